/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The types of counts in calls of MPI, which come in two kinds: MPI_Send, and MPI_Send_c of MPI 4. Code for both is
 * written once and included after this header, without and with COUNTS_ARE_LARGE.
 */
#undef C
#undef COUNT
#undef PLACE
#undef WIDE
#ifdef COUNTS_ARE_LARGE
#define C(function) function##_c
#define COUNT MPI_Count
#define PLACE MPI_Aint /* a place in a buffer, in items */
#define WIDE MPI_Count /* a size of a datatype, in bytes */
#else
#define C(function) function
#define COUNT int
#define PLACE int
#define WIDE MPI_Aint
#endif
