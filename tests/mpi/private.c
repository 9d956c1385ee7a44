/* Loads two libraries in Fortran (private.f90), each for itself only, and calls them in turn; this
   program knows nothing of MPI. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static void *load(const char *name) {
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    return library;
}

static int call(void *library, const char *name) {
    void (*subroutine)(int *) = (void (*)(int *))dlsym(library, name);
    int number = -1;
    subroutine(&number);
    return number;
}

int main(int argc, char **argv) {
    int wrong = 0;
    if (argc != 3) return 2;
    void *one = load(argv[1]);
    call(one, "begin_");
    wrong += call(one, "work_");
    void *other = load(argv[2]);
    wrong += call(other, "work_");
    wrong += call(one, "work_");
    if (wrong) {
        fprintf(stderr, "%d things went wrong\n", wrong);
        return 1;
    }
    call(one, "finish_");
    return 0;
}
