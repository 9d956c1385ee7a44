/* What needs no other rank: versions, names, times, memory, handles as integers. */
#include "check.h"

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING], name[MPI_MAX_PROCESSOR_NAME];
    int version, subversion, length;
    void *memory;
    MPI_Aint address;

    CHECK(MPI_Get_version(&version, &subversion) == MPI_SUCCESS);
    CHECK(version == MPI_VERSION && subversion == MPI_SUBVERSION);
    CHECK(MPI_Abi_get_version(&version, &subversion) == MPI_SUCCESS);
    CHECK(version == MPI_ABI_VERSION && subversion == MPI_ABI_SUBVERSION);
    CHECK(MPI_Get_library_version(library, &length) == MPI_SUCCESS);
    CHECK(length == (int)strlen(library) && strstr(library, "Muster"));
    CHECK(MPI_Get_processor_name(name, &length) == MPI_SUCCESS);
    CHECK(length == (int)strlen(name) && length > 0);

    CHECK(MPI_Wtick() > 0 && MPI_Wtick() < 1e-3);
    double start = MPI_Wtime();
    CHECK(MPI_Wtime() >= start);

    CHECK(MPI_Alloc_mem(1000, MPI_INFO_NULL, &memory) == MPI_SUCCESS);
    memset(memory, 1, 1000);
    CHECK((uintptr_t)memory % 64 == 0);
    CHECK(MPI_Get_address(memory, &address) == MPI_SUCCESS);
    CHECK(MPI_Aint_diff(MPI_Aint_add(address, 24), address) == 24);
    CHECK(MPI_Free_mem(memory) == MPI_SUCCESS);

    /* More than a cache line's alignment is for who asks; nonsense is left out. */
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_minimum_memory_alignment", "65536");
    CHECK(MPI_Alloc_mem(1000, info, &memory) == MPI_SUCCESS && (uintptr_t)memory % 65536 == 0);
    memset(memory, 1, 1000);
    CHECK(MPI_Free_mem(memory) == MPI_SUCCESS);
    for (int turn = 0; turn < 3; turn++) {
        const char *values[] = {"100", "8", "much"};
        MPI_Info_set(info, "mpi_minimum_memory_alignment", values[turn]);
        CHECK(MPI_Alloc_mem(1000, info, &memory) == MPI_SUCCESS && (uintptr_t)memory % 64 == 0);
        CHECK(MPI_Free_mem(memory) == MPI_SUCCESS);
    }
    MPI_Info freed = info;
    MPI_Info_free(&info);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK(MPI_Alloc_mem(1000, freed, &memory) == MPI_ERR_INFO);

    int provided, number;
    CHECK(MPI_T_cvar_get_num(&number) == MPI_T_ERR_NOT_INITIALIZED);
    CHECK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided) == MPI_SUCCESS);
    CHECK(MPI_T_cvar_get_num(&number) == MPI_SUCCESS && number == 0);
    CHECK(MPI_T_cvar_get_index("eager_limit", &number) == MPI_T_ERR_INVALID_NAME);
    CHECK(MPI_T_finalize() == MPI_SUCCESS && MPI_T_finalize() == MPI_T_ERR_NOT_INITIALIZED);

    CHECK(MPI_Comm_toint(MPI_COMM_WORLD) == 257);
    CHECK(MPI_Comm_fromint(257) == MPI_COMM_WORLD);
    CHECK(MPI_Type_fromint(MPI_Type_toint(MPI_DOUBLE)) == MPI_DOUBLE);
    puts("all good");
    return 0;
}
