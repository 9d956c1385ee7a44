/* What ranks ask of one another, and whose turn it is: numbers in a window while the window's owner
 * asks as well, messages that are taken out, the shared pointer of a file, which rank 0 keeps and
 * moves itself, too. Prints all that the ranks were told. The argument is the file. */
#include "check.h"

enum { ROUNDS = 8, MOST = 4 * ROUNDS };

static int told[MOST], count;
static unsigned dice;

static void note(int number) {
    CHECK(count < MOST);
    told[count++] = number;
}

/* Takes long, or does not. */
static void dawdle(void) {
    dice = dice * 1103515245u + 12345u;
    rest(dice >> 16 & 511);
}

/* Each rank takes the next number of the first, once alone and once beside others. */
static void numbers(void) {
    for (int i = 0; i < ROUNDS; i++) {
        int memory = 0, one = 1, before, flag = 0;
        MPI_Win window;
        MPI_Request request;
        dawdle();
        MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
        dawdle();
        MPI_Fetch_and_op(&one, &before, MPI_INT, 0, 0, MPI_SUM, window);
        MPI_Win_unlock(0, window);
        note(before);
        MPI_Win_lock_all(0, window);
        dawdle();
        MPI_Rget_accumulate(&one, 1, MPI_INT, &before, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM,
                            window, &request);
        while (!flag) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        note(before);
        MPI_Win_unlock_all(window);
        MPI_Win_free(&window);
    }
}

/* The first rank takes out whatever message is there. */
static void messages(void) {
    for (int left = rank ? ROUNDS : ROUNDS * (size - 1); left > 0; left--) {
        dawdle();
        if (rank > 0) {
            MPI_Send(&left, 1, MPI_INT, 0, left % 3, MPI_COMM_WORLD);
            continue;
        }
        int value, flag = 0;
        MPI_Message message;
        MPI_Status status;
        while (!flag) {
            MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &message, &status);
        }
        MPI_Mrecv(&value, 1, MPI_INT, &message, &status);
        CHECK(value % 3 == status.MPI_TAG);
        if (left <= ROUNDS) note(status.MPI_SOURCE);
    }
    if (rank > 0) count += ROUNDS;
}

/* All write behind one another. */
static void a_file(const char *name) {
    static int all[64 * ROUNDS];
    MPI_File file;
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &file);
    for (int i = 0; i < ROUNDS; i++) {
        dawdle();
        MPI_File_write_shared(file, &rank, 1, MPI_INT, MPI_STATUS_IGNORE);
        /* Nothing is there, but in such a call others are answered. */
        int flag;
        MPI_Iprobe(MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        CHECK(!flag);
    }
    MPI_File_sync(file);
    MPI_File_read_at(file, 0, all, size * ROUNDS, MPI_INT, MPI_STATUS_IGNORE);
    for (int i = 0; i < ROUNDS; i++) note(all[i]);
    MPI_File_close(&file);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    /* Another number in each run; in a simulation the same for each seed, as its time is. */
    dice = (unsigned)(long long)(MPI_Wtime() * 1e6) * 7919u + (unsigned)rank * 31u;
    numbers();
    messages();
    a_file(argv[1]);
    int *every = malloc((size_t)size * sizeof told);
    MPI_Gather(told, MOST, MPI_INT, every, MOST, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < size * MOST; i++) printf("%d ", every[i]);
    free(every);
    return end();
}
