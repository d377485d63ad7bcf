/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The types of counts in calls of MPI. There are two kinds of calls: MPI_Send, and MPI_Send_c of MPI 4. Code for
 * both is written once, and is included after this header, first without and then with COUNTS_ARE_LARGE.
 */
#undef C
#undef COUNT
#undef PLACE
#undef WIDE
#ifdef COUNTS_ARE_LARGE
#define C(function) function##_c
#define COUNT MPI_Count
#define PLACE MPI_Aint /* displacement in a buffer, in items */
#define WIDE MPI_Count /* size of a datatype, in bytes */
#else
#define C(function) function
#define COUNT int
#define PLACE int
#define WIDE MPI_Aint
#endif
