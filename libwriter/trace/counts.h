/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The types of counts in MPI calls, which exist twice: MPI_Send with int, and MPI_Send_c of MPI 4 with
 * MPI_Count. Code for both is written once, and included after this header, the second time with
 * COUNTS_ARE_LARGE.
 */
#undef C
#undef COUNT
#undef PLACE
#undef WIDE
#ifdef COUNTS_ARE_LARGE
#define C(function) function##_c
#define COUNT MPI_Count
#define PLACE MPI_Aint /* displacement in a buffer, in elements */
#define WIDE MPI_Count /* size of a datatype, in bytes */
#else
#define C(function) function
#define COUNT int
#define PLACE int
#define WIDE MPI_Aint
#endif
