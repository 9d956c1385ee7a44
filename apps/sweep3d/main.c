/*
 * Sweep3D: steady transport of particles of one speed through a box of cells, by discrete ordinates
 * and source iteration, as an ordinary MPI program.
 *
 *     mpiexec -n RANKS sweep3d DECK [NPE_I NPE_J]
 *
 * The benchmark of the papers on STORM, BCS-MPI and the Cell Messaging Layer: fine-grained,
 * blocking messages in the order of a wavefront. Written anew from its published description;
 * README.md has the deck and values to check against.
 *
 * An iteration: source from the last flux, a sweep, then one sum (fixups) and one maximum (error)
 * over all ranks. What comes out does not depend on how the grid is cut, to the last bit, but for
 * the balance, whose sums are over ranks.
 */
#include "sweep3d.h"

#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DECK_BYTES = 16384 };

/* A whole number of at least 1, or 0 if TEXT is none. */
static int positive(const char *text)
{
    char *end;
    long value = strtol(text, &end, 10);
    return end != text && *end == '\0' && value >= 1 && value <= 1000000 ? (int)value : 0;
}

static bool read_deck(const char *path, char text[DECK_BYTES], char why[MESSAGE])
{
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        snprintf(why, MESSAGE, "cannot open the deck %.100s: %s", path, strerror(errno));
        return false;
    }
    size_t length = fread(text, 1, DECK_BYTES - 1, file);
    bool bad = ferror(file) != 0;
    text[length] = '\0';
    fclose(file);
    if (bad)
        snprintf(why, MESSAGE, "cannot read the deck %.100s: %s", path, strerror(errno));
    return !bad;
}

/* What the command line asks for; only rank 0 looks. */
static bool asked_for(int argc, char **argv, int ranks, struct deck *deck, char why[MESSAGE])
{
    char text[DECK_BYTES];
    if (argc != 2 && argc != 4) {
        snprintf(why, MESSAGE, "call it with a deck: sweep3d DECK [NPE_I NPE_J]");
        return false;
    }
    if (!read_deck(argv[1], text, why) || !deck_parse(text, deck, why))
        return false;
    if (argc == 4) {
        deck->npe_i = positive(argv[2]);
        deck->npe_j = positive(argv[3]);
        if (deck->npe_i == 0 || deck->npe_j == 0) {
            snprintf(why, MESSAGE, "NPE_I and NPE_J after the deck's name must be whole numbers "
                     "of at least 1, but are '%.40s' and '%.40s'", argv[2], argv[3]);
            return false;
        }
    }
    return deck_check(deck, ranks, why);
}

static void print_head(const struct deck *deck, int ranks)
{
    printf("Sweep3D: %d x %d x %d cells, S%d P%d, on %d x %d = %d ranks, blocks of %d planes and "
           "%d angles\n", deck->it_g, deck->jt_g, deck->kt, deck->mm == 3 ? 4 : 6, deck->isct,
           deck->npe_i, deck->npe_j, ranks, deck->mk, deck->mmi);
    printf("%9s  %24s  %12s\n", "iteration", "error", "fixups");
}

/* Iterates until the deck is content; returns the number of iterations. */
static int iterate(struct problem *problem, bool *converged)
{
    const struct deck *deck = &problem->deck;
    int last = deck->epsi < 0.0 ? (int)-deck->epsi : MAX_ITERATIONS;
    for (int iteration = 1;; iteration++) {
        bool fix = deck->ifixups == 1 || (deck->ifixups < 0 && iteration > -deck->ifixups);
        long fixups, all_fixups;
        double error, all_error;

        source_begin(problem);
        fixups = sweep(problem, fix);
        error = source_error(problem);
        MPI_Allreduce(&fixups, &all_fixups, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        MPI_Allreduce(&error, &all_error, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        if (problem->part.rank == 0) {
            printf("%9d  %24.17e  %12ld\n", iteration, all_error, all_fixups);
            fflush(stdout);
        }
        *converged = deck->epsi < 0.0 || all_error < deck->epsi;
        if (iteration == last || (deck->epsi > 0.0 && *converged))
            return iteration;
    }
}

static void print_time(const struct deck *deck, int iterations, double seconds)
{
    double solved = (double)iterations * deck->it_g * deck->jt_g * deck->kt * 8 * deck->mm;
    printf("iterations      %d\n", iterations);
    printf("time            %.6f s\n", seconds);
    printf("grind           %.4f ns for each cell, angle and iteration\n", seconds / solved * 1e9);
}

/* Solves the deck, which is good; returns the exit status. */
static int solve(struct problem *problem, int ranks)
{
    int rank = problem->part.rank, mine = part_allocate(problem), all, iterations;
    bool converged;
    double seconds;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (!all) {
        if (rank == 0)
            fprintf(stderr, "sweep3d: a rank has too little memory for its part of the grid; "
                    "use more ranks or nodes\n");
        return 1;
    }
    if (rank == 0)
        print_head(&problem->deck, ranks);
    MPI_Barrier(MPI_COMM_WORLD);
    seconds = MPI_Wtime();
    iterations = iterate(problem, &converged);
    MPI_Barrier(MPI_COMM_WORLD);
    seconds = MPI_Wtime() - seconds;
    balance_report(problem);
    if (rank == 0)
        print_time(&problem->deck, iterations, seconds);
    if (rank == 0 && !converged)
        fprintf(stderr, "sweep3d: after %d iterations the error is still not below EPSI, %g\n",
                iterations, problem->deck.epsi);
    return converged ? 0 : 1;
}

int main(int argc, char **argv)
{
    static struct problem problem;
    int rank, ranks, good = 0, status = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank == 0) {
        char why[MESSAGE];
        good = asked_for(argc, argv, ranks, &problem.deck, why);
        if (!good)
            fprintf(stderr, "sweep3d: %s\n", why);
    }
    MPI_Bcast(&good, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (good) {
        MPI_Bcast(&problem.deck, (int)sizeof problem.deck, MPI_BYTE, 0, MPI_COMM_WORLD);
        part_of(&problem.deck, rank, &problem.part);
        quadrature(&problem.deck, problem.angles);
        status = solve(&problem, ranks);
        part_free(&problem);
    }
    MPI_Finalize();
    return status;
}
