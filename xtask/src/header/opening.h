/* MPI 5.0 by its standard binary interface: a program that is compiled with this header runs with
 * every library called libmpi_abi.so.1, and one that was compiled with another header of that
 * interface runs with Muster's.
 *
 * Made by `cargo xtask header` from the tables in crates/mpi-abi/standard. */

#ifndef MPI_H_ABI
#define MPI_H_ABI

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
