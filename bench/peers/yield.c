/* Loaded before MPICH: gives the core up after each look at the network that found nothing. Its UCX
 * device looks all the time and has no setting for this; with more ranks than cores each of them
 * would run for a whole slice of the scheduler, and an operation would take 100 ms. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>

unsigned ucp_worker_progress(void *worker) {
    static unsigned (*progress)(void *);
    unsigned count;
    if (!progress)
        *(void **)&progress = dlsym(RTLD_NEXT, "ucp_worker_progress");
    count = progress(worker);
    if (!count)
        sched_yield();
    return count;
}
