/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counter-based random numbers. A draw is a pure function of (seed, purpose, three words of the caller), so
 * any process can ask for any draw in any order and gets the same bits. The generator is Philox4x32-10
 * (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
 */
#ifndef HPCW_BASE_RNG_H
#define HPCW_BASE_RNG_H

#include <stddef.h>
#include <stdint.h>

/*
 * What a draw is for: the fourth word of the counter, its first three are a, b, c. All purposes are listed here. A
 * purpose has one use, and is never shared, changed or used again: otherwise two quantities that should be
 * independent share their draws, or old seeds give other files.
 */
enum hpcw_i_purpose {
    HPCW_I_FOR_PAIR = 1,   /* min(i,j), max(i,j), ffffffff: static factor of a pair of ranks */
    HPCW_I_FOR_TIMING = 2, /* i, j, p: words 0-1 jitter, word 2 tail event, word 3 tail size */
    HPCW_I_FOR_PORT = 3,   /* node, 0, 0: health of its ports: word 0 bad, 1 direction, 2 how bad */
    /* 4: not used any more */
    HPCW_I_FOR_ALLTOALL = 5,    /* rank, p, 0: words 0-1 */
    HPCW_I_FOR_STEPS = 6,       /* slot, p, try: shuffle of the steps */
    HPCW_I_FOR_TASKS = 7,       /* slot, p, try: shuffle of the tasks */
    HPCW_I_FOR_RETEST = 8,      /* i, j, p: words 0-1 jitter */
    HPCW_I_FOR_CABLE = 9,       /* lower switch, higher switch, 0: word 0 bad */
    HPCW_I_FOR_SLOW_NODE = 10,  /* node, 0, 0: word 0 slow, 1 how much */
    HPCW_I_FOR_LINK = 11,       /* knot, pair of regions, 0: words 0-1 congestion of a link */
    HPCW_I_FOR_BACKGROUND = 12, /* knot, 0, 0: words 0-1 congestion of the whole machine */
    HPCW_I_FOR_ALLOCATION =
        13, /* place or block, which of the two, 0: words 0-2 other jobs; 0, 0, try: first place */
    /* 14..15: later properties of the one simulated machine */

    /* 16 and up: one block per format */
    HPCW_I_FOR_PARTICLE_COUNT = 16, /* rank, 0, 0: words 0-1 size, word 2 number of blocks */
    HPCW_I_FOR_PARTICLE_FLOW = 17,  /* rank, 0, part 0-1: bulk velocity and depth of a rank's subdomain */
    HPCW_I_FOR_PARTICLE = 18,       /* index, rank, part 0-1: place and mask, velocity */

    HPCW_I_FOR_PARTICLE_CLUMP = 19, /* rank, dimension, bin / 2: words 0-1 and 2-3 density of a bin */

    /* The simulated application: its objects, their work and messages. */
    HPCW_I_FOR_LOAD_HOME = 32,       /* home rank, 0, 0: words 0-1 the smooth field before it is made smooth */
    HPCW_I_FOR_LOAD_OBJECT = 33,     /* object, 0, 0: words 0-1 its own share, 2-3 its set-up */
    HPCW_I_FOR_LOAD_PHASE = 35,      /* object, phase, 0: words 0-1 what is new */
    HPCW_I_FOR_LOAD_EXISTS = 37,     /* object, 0, 0: word 0 whether there is one; rank, 1, 0: 0-1 its share */
    HPCW_I_FOR_LOAD_OTHER = 36,      /* rank, which of its handlers and groups, phase: words 0-1 time */
    HPCW_I_FOR_LOAD_SWAP = 38,       /* lower rank of the pair, phase, slot / 4: one word a slot */
    HPCW_I_FOR_LOAD_SCENARIO = 39,   /* half, round, 0: permutation of the home ranks; it hits the first ones */
    HPCW_I_FOR_LOAD_FAR = 40,        /* half, round, channel: permutation of the objects */
    HPCW_I_FOR_LOAD_FAR_USED = 41,   /* object, channel, 0: word 0 whether it sends there */
    HPCW_I_FOR_LOAD_EDGE = 42,       /* owner, kind, 0: words 0-1 bytes, 2-3 messages */
    HPCW_I_FOR_LOAD_EDGE_PHASE = 43, /* owner, kind, period: words 0-1 bytes, 2-3 messages */
    HPCW_I_FOR_LOAD_MEMORY = 44,   /* object or block, which of the two, 0: words 0-1 size, 2-3 working size */
    HPCW_I_FOR_LOAD_SUBPHASE = 45, /* object, subphase / 4, 0 or phase + 1: one word a subphase */
    HPCW_I_FOR_LOAD_NOISE =
        46, /* rank, phase, 0: word 0 whether the system interrupts, 1 how long, 2 which slot */
    HPCW_I_FOR_LOAD_NEIGHBOUR =
        47, /* phase, 0, 0: word 0 dimension in which neighbours swap, 1 which of them */
    HPCW_I_FOR_LOAD_GOSSIP =
        80, /* rank, phase, iteration * 6 + quarter: one word for each rank that it hears of */
    HPCW_I_FOR_LOAD_GIVE = 81, /* object, phase, iteration: word 0 to which of them */
    HPCW_I_FOR_LOAD_MESH =
        85, /* phase, 0, 0: words 0-1 layers; knot of phases, 1, 0: the same; dimension, 2, 0: word 0 cells */
    HPCW_I_FOR_LOAD_COURSE =
        91, /* 0, 0, 0: word 0 course, 1 steps; step, 1, 0: word 0 level; phase, 2, 0: words 0-1 burst */
    HPCW_I_FOR_LOAD_SIZES = 92, /* 0, 0, 0: word 0 the least volume of an edge */
    /* 48..63: its checkpoints. */
    HPCW_I_FOR_CKPT_FILE = 48,  /* rank, checkpoint, part: 0 size, 1 CRC, 2 faults, 3 contents */
    HPCW_I_FOR_CKPT_FAULT = 49, /* kind, index, try: words 0-1 which file */

    /* Its log. */
    HPCW_I_FOR_LOG_CLOCK =
        68, /* node, 0, 0: words 0-1 offset of its clock, 2-3 drift; 0, 1, 0: word 0 which clock is surely lost;
             * node, 2, 0: word 0 whether it is */
    HPCW_I_FOR_LOG_COMM = 69, /* rank, n, 0: word 0 id of its n-th communicator; world: ffffffff */

    /* Its run. */
    HPCW_I_FOR_RUN_WORKLOAD = 90, /* 0, 0, 0: word 2 which one of the library */
    HPCW_I_FOR_RUN_START = 93,    /* 0, 0, 0: word 0 when */
    HPCW_I_FOR_RUN_LENGTH = 94,   /* 0, 0, 0: word 0 number of phases, 1 number of checkpoints */

    /* What its workload draws itself. */
    HPCW_I_FOR_WORKLOAD = 86, /* rank, call of random or normal, 0: words 0-1 */

    /* What disturbs its ranks. */
    HPCW_I_FOR_NOISE_PROCESSOR = 87, /* place of the node, socket, 0: words 0-1 how slow */
    HPCW_I_FOR_NOISE_TICK = 88,      /* host, 0, 0: word 0 when its timer ticks */
    HPCW_I_FOR_NOISE_DETOUR =
        89, /* rank, number, 0; host, number, 1: word 0 time since the one before, 1 length */

    /* The template of a new format, tests/template. 254 is reserved for the copy that doc/new-format.md makes; a
     * real format takes the number after the largest one above. */
    HPCW_I_FOR_COUNTER = 255, /* rank, 0, try: its value; rank, 1, 0: word 0 whether it is stuck */
};

/* Returns the seed of an object that has a number of its own instead of the dataset's seed. Number 0: it has none,
 * and `seed` is returned. Numbers count down from the largest seed, which nobody gives a dataset, so that they are
 * never those of small seeds. */
static inline uint64_t hpcw_i_numbered_seed(uint32_t number, uint64_t seed) {
    return number == 0 ? seed : UINT64_MAX - number;
}

/* The constants of Philox4x32, for vector code that repeats its operations. */
#define HPCW_I_PHILOX_MULTIPLIER_0 0xD2511F53u
#define HPCW_I_PHILOX_MULTIPLIER_1 0xCD9E8D57u
#define HPCW_I_PHILOX_INCREMENT_0 0x9E3779B9u
#define HPCW_I_PHILOX_INCREMENT_1 0xBB67AE85u
#define HPCW_I_PHILOX_ROUNDS 10

/* Computes one block: out = Philox4x32-10(counter, key). The key is the 64-bit seed, low word first. */
void hpcw_i_philox(const uint32_t counter[4], uint64_t seed, uint32_t out[4]);

/* Computes the block of a draw. */
void hpcw_i_draw(uint64_t seed, enum hpcw_i_purpose purpose, uint32_t a, uint32_t b, uint32_t c,
                 uint32_t out[4]);

/*
 * Returns a nearly normal number with mean 0, variance 1 and |z| <= 3.4641: the centred sum of the four 16-bit
 * halves times sqrt(3) / 65536.
 */
double hpcw_i_normal(uint32_t word0, uint32_t word1);

#define HPCW_I_NORMAL_CENTRE 131070                 /* mean of the sum of four halves */
#define HPCW_I_NORMAL_SCALE (0x1.bb67ae8584caap-16) /* sqrt(3) / 65536, nearest double */
#define HPCW_I_NORMAL_MAX (HPCW_I_NORMAL_CENTRE * HPCW_I_NORMAL_SCALE)

/* Returns a number uniform in (0, 1]: (word + 1) / 2^32. */
double hpcw_i_uniform(uint32_t word);

/* Returns the threshold of an event with this probability: it happens if word < threshold = probability * 2^32.
 * With 1 and above it always happens. */
uint64_t hpcw_i_threshold(double probability);

/*
 * Returns an unbiased integer in 0 .. bound - 1, bound > 0. The draw is (a, b, try). `try` is 0 except after a
 * rejection, which has a probability below bound / 2^65.
 */
uint64_t hpcw_i_below(uint64_t bound, uint64_t seed, enum hpcw_i_purpose purpose, uint32_t a, uint32_t b);

/*
 * Shuffles by Fisher-Yates: every order of item[0 .. count - 1] is equally likely. The draws are (first_slot +
 * index, permutation, try). Separate shuffles of parts pass different first slots.
 */
void hpcw_i_shuffle(uint32_t *item, uint32_t count, uint64_t seed, enum hpcw_i_purpose purpose,
                    uint32_t permutation, uint32_t first_slot);

#endif
