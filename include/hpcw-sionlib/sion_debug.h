/* SPDX-License-Identifier: BSD-3-Clause */
/** Stubs of SIONlib's debug output, for programs that switch it on. They print nothing. */
#ifndef HPCW_SIONLIB_SION_DEBUG_H
#define HPCW_SIONLIB_SION_DEBUG_H

#define ONLY_DEBUG(A)
#define DPRINTF(A)
#define DPRINTFP(A)
#define DPRINTFTS(A, B)
#define DPRINTFTS2(A, B)

static inline void sion_debug_on(int mask, const char *filename) {
    (void)mask;
    (void)filename;
}

static inline void sion_debug_off(void) {
}

static inline void sion_dclose(void) {
}

#endif
