/*
 * What the ranks of a job find out about all of them at once, for run-times: that nothing is left
 * to do (termination detection), or what nobody needs any more (garbage collection). Questions are
 * COMPARE-AND-WRITE over the job's nodes (Fernandez et al., table 3); how, is in docs/wire/vote.md.
 *
 * All of it is in this header. A program that is no rank of a job is the only one. Calls are made
 * one after another, and by one process of a rank. Each returns 0, or -1 and says why in
 * muster_why: the node cannot be asked, another one is gone, or what is said makes no sense.
 *
 * A run-time that sends work from rank to rank:
 *
 *     while (!done) {
 *         if (work comes) {
 *             muster_busy();
 *             receive it;             // its sender learns of it now: MPI_Issend, or a message back
 *             do it;
 *         } else if (all that was sent has been received) {
 *             muster_quiet();
 *             muster_quiescent(&done);
 *         }
 *     }
 */
#ifndef MUSTER_H
#define MUSTER_H

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One for all files of a program that include this. */
#define MUSTER_ONE __attribute__((weak))

/* The connection to the node, or -1; and what there is of a program that is alone. */
MUSTER_ONE int muster_vote_socket = -1;
MUSTER_ONE int muster_vote_alone = 0;
MUSTER_ONE int muster_vote_is_quiet = 0;
MUSTER_ONE uint64_t muster_vote_live = 0;

/* Why the last call has failed: a sentence. */
MUSTER_ONE char muster_why[640] = "";

static inline int muster_fails(const char *what, const char *why) {
    snprintf(muster_why, sizeof muster_why, "%s: %s", what, why);
    return -1;
}

/* Says a line, and reads the answer: 0, 1, or -1. */
static inline int muster_says(const char *line) {
    char answer[512];
    size_t said = 0, length = strlen(line), heard = 0;
    while (said < length) {
        ssize_t some = send(muster_vote_socket, line + said, length - said, MSG_NOSIGNAL);
        if (some < 0 && errno != EINTR)
            return muster_fails("the node cannot be told", strerror(errno));
        said += some > 0 ? (size_t)some : 0;
    }
    while (heard == 0 || answer[heard - 1] != '\n') {
        ssize_t some = recv(muster_vote_socket, answer + heard, sizeof answer - 1 - heard, 0);
        if (some == 0 || heard + (size_t)(some > 0 ? some : 0) >= sizeof answer - 1)
            return muster_fails("the node does not answer", "it has hung up");
        if (some < 0 && errno != EINTR)
            return muster_fails("the node does not answer", strerror(errno));
        heard += some > 0 ? (size_t)some : 0;
    }
    answer[heard - 1] = 0;
    if (strcmp(answer, "0") == 0 || strcmp(answer, "1") == 0)
        return answer[0] - '0';
    return muster_fails("the node refuses", answer);
}

/* Connects, if this is a rank that has not: 0, or -1. */
static inline int muster_enters(void) {
    const char *path = getenv("MUSTER_VOTE"), *job = getenv("MUSTER_JOB");
    const char *rank = getenv("MUSTER_RANK");
    struct sockaddr_un at = {0};
    char hello[64];
    if (muster_vote_socket >= 0 || muster_vote_alone)
        return 0;
    if (!path || !job || !rank) {
        muster_vote_alone = 1;
        return 0;
    }
    at.sun_family = AF_UNIX;
    if (strlen(path) >= sizeof at.sun_path)
        return muster_fails("MUSTER_VOTE", "its path is too long");
    strcpy(at.sun_path, path);
    muster_vote_socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (muster_vote_socket < 0)
        return muster_fails("a socket", strerror(errno));
    snprintf(hello, sizeof hello, "rank %s %s\n", job, rank);
    if (connect(muster_vote_socket, (struct sockaddr *)&at, sizeof at) < 0)
        muster_fails(path, strerror(errno));
    else if (muster_says(hello) == 1)
        return 0;
    close(muster_vote_socket);
    muster_vote_socket = -1;
    return -1;
}

/* This rank has nothing to do, and all that it has sent was received. It is busy before it says so,
 * and quiet once it has ended. */
static inline int muster_quiet(void) {
    if (muster_enters() < 0)
        return -1;
    muster_vote_is_quiet = 1;
    return muster_vote_alone || muster_says("quiet\n") >= 0 ? 0 : -1;
}

/* This rank has something to do. Who has sent it that may learn that it was received only now. */
static inline int muster_busy(void) {
    if (muster_enters() < 0)
        return -1;
    muster_vote_is_quiet = 0;
    return muster_vote_alone || muster_says("busy\n") >= 0 ? 0 : -1;
}

/* Whether all ranks were quiet at one moment since this one has last said that it is. It takes some
 * hundred microseconds, and may have to be asked more than once; a rank that is busy is told 0. */
static inline int muster_quiescent(int *flag) {
    int answer = muster_enters() < 0 ? -1 : muster_vote_is_quiet;
    if (answer >= 0 && !muster_vote_alone)
        answer = muster_says("quiescent\n");
    *flag = answer == 1;
    return answer < 0 ? -1 : 0;
}

/* What this rank holds: a number that only grows, such as that of the oldest epoch of which it has
 * something. It is 0 before it says so; a rank that has ended holds nothing. */
static inline int muster_live(uint64_t value) {
    char line[32];
    if (muster_enters() < 0)
        return -1;
    if (muster_vote_alone && value < muster_vote_live)
        return muster_fails("muster_live", "live state only grows");
    muster_vote_live = value;
    snprintf(line, sizeof line, "live %llu\n", (unsigned long long)value);
    return muster_vote_alone || muster_says(line) >= 0 ? 0 : -1;
}

/* Whether what each rank holds is so much at least. Once it is, it stays so. */
static inline int muster_reached(uint64_t value, int *flag) {
    char line[32];
    int answer = muster_enters() < 0 ? -1 : muster_vote_live >= value;
    snprintf(line, sizeof line, "reached %llu\n", (unsigned long long)value);
    if (answer >= 0 && !muster_vote_alone)
        answer = muster_says(line);
    *flag = answer == 1;
    return answer < 0 ? -1 : 0;
}

#ifdef __cplusplus
}
#endif
#endif
