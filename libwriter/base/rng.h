/* SPDX-License-Identifier: BSD-3-Clause */
/* Counter-based random numbers. A draw is a pure function of the seed, a purpose, and three words of the caller. So
 * any process can ask for any draw in any order and gets the same bits. The generator is Philox4x32-10 (Salmon et
 * al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011). */
#ifndef HPCW_BASE_RNG_H
#define HPCW_BASE_RNG_H

#include <stddef.h>
#include <stdint.h>

/*
 * The purpose of a draw. The counter of a draw has four words: a, b and c of the caller, and the purpose. A line
 * below says what a, b and c are, and what the four random words 0 to 3 of the draw decide. All purposes are listed
 * here. A purpose has one use, and is never shared, changed or used again: otherwise two quantities that should be
 * independent share their draws, or old seeds give other files.
 */
enum hpcw_i_purpose {
    /* counter (lower rank, higher rank, ffffffff): words 0-1 constant noise of a pair of ranks */
    HPCW_I_FOR_PAIR = 1,
    /* counter (rank, partner, permutation): words 0-1 noise of a timing, 2 whether it is an outlier, 3 its delay */
    HPCW_I_FOR_TIMING = 2,
    /* counter (node, 0, 0): word 0 whether the node's port is slow, 1 in which direction, 2 how slow */
    HPCW_I_FOR_PORT = 3,
    /* 4 is no longer used */
    HPCW_I_FOR_ALLTOALL = 5, /* counter (rank, permutation, 0): words 0-1 noise of the all-to-all time */
    /* counter (index, permutation, try): shuffle of the steps of a LinkTest permutation */
    HPCW_I_FOR_STEPS = 6,
    /* counter (index, permutation, try): shuffle of the tasks of a LinkTest permutation */
    HPCW_I_FOR_TASKS = 7,
    HPCW_I_FOR_RETEST = 8, /* counter (rank, partner, permutation): words 0-1 noise of a retest */
    /* counter (lower switch, higher switch, 0): word 0 whether the cable between them is slow */
    HPCW_I_FOR_CABLE = 9,
    /* counter (node, 0, 0): word 0 whether the node's processors are slow, 1 how slow */
    HPCW_I_FOR_SLOW_NODE = 10,
    /* counter (point in time, pair of regions, 0): words 0-1 congestion of the link between the regions */
    HPCW_I_FOR_LINK = 11,
    HPCW_I_FOR_BACKGROUND = 12, /* counter (point in time, 0, 0): words 0-1 congestion of the whole machine */
    /* counter (block of nodes, 1, 0): words 0-2 nodes of the block that other jobs use; (node, 2, 0): word 0
     * whether another job uses the node; (0, 0, try): first node of the job */
    HPCW_I_FOR_ALLOCATION = 13,
    /* 14 and 15 are reserved for later properties of the simulated machine */

    /* From 16 on: a range of numbers for each file format. */

    /* counter (rank, 0, 0): words 0-1 number of particles of the rank, 2 number of their blocks in the file */
    HPCW_I_FOR_PARTICLE_COUNT = 16,
    /* counter (rank, 0, part 0-1): bulk velocity of a rank's particles, depth of their potential */
    HPCW_I_FOR_PARTICLE_FLOW = 17,
    /* counter (particle, rank, part 0-1): position, mask and velocity of the particle */
    HPCW_I_FOR_PARTICLE = 18,

    /* counter (rank, dimension, bin / 2): words 0-1 density of the even bin, 2-3 density of the odd bin */
    HPCW_I_FOR_PARTICLE_CLUMP = 19,

    /* The simulated application: its objects, their work and messages. */

    /* counter (home rank: first rank of an object, 0, 0): words 0-1 noise that becomes the smooth field of loads */
    HPCW_I_FOR_LOAD_HOME = 32,
    /* counter (object, 0, 0): words 0-1 constant part of the object's load, 2-3 its load in the set-up phase */
    HPCW_I_FOR_LOAD_OBJECT = 33,
    /* counter (object, phase, 0): words 0-1 part of the object's load that is new in the phase */
    HPCW_I_FOR_LOAD_PHASE = 35,
    /* counter (object, 0, 0): word 0 whether the object exists; (rank, 1, 0): words 0-1 how many of the rank's
     * objects exist */
    HPCW_I_FOR_LOAD_EXISTS = 37,
    /* counter (rank, number of a handler or group, phase): words 0-1 time of this handler or group */
    HPCW_I_FOR_LOAD_OTHER = 36,
    /* counter (lower rank of a pair, phase, slot / 4): a word for each slot (place for an object), whether the pair
     * swaps the objects in it */
    HPCW_I_FOR_LOAD_SWAP = 38,
    /* counter (half, round, 0) of a Feistel network: random order of the home ranks; the load scenario hits the
     * first ones */
    HPCW_I_FOR_LOAD_SCENARIO = 39,
    /* counter (half, round, channel) of a Feistel network: permutation of the objects, which gives each a far
     * partner */
    HPCW_I_FOR_LOAD_FAR = 40,
    /* counter (object, channel, 0): word 0 whether the object sends to its far partner */
    HPCW_I_FOR_LOAD_FAR_USED = 41,
    /* counter (owner of an edge, kind of edge, 0): words 0-1 usual bytes of the edge, 2-3 its usual messages */
    HPCW_I_FOR_LOAD_EDGE = 42,
    /* counter (owner of an edge, kind of edge, period of phases): words 0-1 change of the bytes, 2-3 of the
     * messages */
    HPCW_I_FOR_LOAD_EDGE_PHASE = 43,
    /* counter (block, 0, 0): words 0-1 size of a block of shared memory; (object, 1, 0): words 0-1 memory of the
     * object, 2 memory while it works */
    HPCW_I_FOR_LOAD_MEMORY = 44,
    /* counter (object, subphase / 4, 0): a word for each subphase, constant part of its time; (object, subphase /
     * 4, phase + 1): the same for the part of its time that is new in the phase */
    HPCW_I_FOR_LOAD_SUBPHASE = 45,
    /* counter (rank, phase, 0): word 0 whether the system interrupts the rank, 1 how long, 2 in which slot */
    HPCW_I_FOR_LOAD_NOISE = 46,
    /* counter (phase, 0, 0): word 0 dimension in which neighbours swap objects, 1 which neighbours */
    HPCW_I_FOR_LOAD_NEIGHBOUR = 47,
    /* counter (rank, phase, 6 * iteration + i / 4): a word for each rank i whose load the rank learns of */
    HPCW_I_FOR_LOAD_GOSSIP = 80,
    /* counter (object, phase, iteration): word 0 rank to which the balancer moves the object */
    HPCW_I_FOR_LOAD_GIVE = 81,
    /* counter (phase, 0, 0): words 0-1 fast change of the solver's number of layers; (point in time, 1, 0): words
     * 0-1 slow change of this number; (dimension, 2, 0): word 0 cells of the mesh */
    HPCW_I_FOR_LOAD_MESH = 85,
    /* counter (0, 0, 0): word 0 how the loads change over the phases, 1 number of steps; (step, 1, 0): word 0 load
     * in the step; (phase, 2, 0): word 0 whether a burst begins, 1 how long it lasts */
    HPCW_I_FOR_LOAD_COURSE = 91,
    HPCW_I_FOR_LOAD_SIZES = 92, /* counter (0, 0, 0): word 0 smallest number of bytes of an edge */
    /* 48..63: the checkpoints of the application. */

    /*
     * counter (rank, checkpoint, part): part 1 CRC of a file, 2 its faults, 3 its content; part 0 is no longer used
     */
    HPCW_I_FOR_CKPT_FILE = 48,
    HPCW_I_FOR_CKPT_FAULT = 49, /* counter (kind of fault, index, try): words 0-1 file that gets the fault */

    /* The log of the application. */
    /* counter (node, 0, 0): words 0-1 offset of the node's clock, 2-3 its drift; (node, 2, 0): word 0 whether the
     * node has lost its time server; (0, 1, 0): word 0 one node that has lost it in any case */
    HPCW_I_FOR_LOG_CLOCK = 68,
    /* counter (rank, n, 0): word 0 identity of the n-th communicator of the rank; rank ffffffff: the world */
    HPCW_I_FOR_LOG_COMM = 69,

    /* The run of the application. */
    HPCW_I_FOR_RUN_WORKLOAD = 90, /* counter (0, 0, 0): word 2 which workload of the library runs */
    HPCW_I_FOR_RUN_START = 93,    /* counter (0, 0, 0): word 0 start time of the run */
    HPCW_I_FOR_RUN_LENGTH = 94,   /* counter (0, 0, 0): word 0 number of phases, 1 number of checkpoints */

    /* Random numbers that the workload asks for. */

    /* counter (rank, number of the call, 0): words 0-1 result of a call of random() or normal() */
    HPCW_I_FOR_WORKLOAD = 86,

    /* Noise that disturbs the ranks of the run. */

    /* counter (node, socket, 0): words 0-1 how slow the processor in the socket is */
    HPCW_I_FOR_NOISE_PROCESSOR = 87,
    HPCW_I_FOR_NOISE_TICK = 88, /* counter (host, 0, 0): word 0 time of the first tick of the host's timer */
    /* counter (rank, number, 0) or (host, number, 1): word 0 time since the previous interruption, 1 length of
     * this one */
    HPCW_I_FOR_NOISE_DETOUR = 89,

    /* The template of a new format (tests/template). The commands in doc/new-format.md give 254 to their copy; a
     * real format takes the number after the largest one above. */

    /* counter (rank, 0, try): value of the rank's sample counter; (rank, 1, 0): word 0 whether it is stuck */
    HPCW_I_FOR_COUNTER = 255,
};

/* Returns the seed of a part of the simulation, such as the job. `number` is the user's number for this part;
 * 0, no number, gives `seed`. These seeds count down from the largest one, so they never equal the small seeds of
 * datasets. */
static inline uint64_t hpcw_i_numbered_seed(uint32_t number, uint64_t seed) {
    return number == 0 ? seed : UINT64_MAX - number;
}

/* The constants of hpcw_i_philox, for vector code that does the same operations. */
#define HPCW_I_PHILOX_MULTIPLIER_0 0xD2511F53u
#define HPCW_I_PHILOX_MULTIPLIER_1 0xCD9E8D57u
#define HPCW_I_PHILOX_INCREMENT_0 0x9E3779B9u
#define HPCW_I_PHILOX_INCREMENT_1 0xBB67AE85u
#define HPCW_I_PHILOX_ROUNDS 10

/* Computes one block of random words: out = Philox4x32-10(counter, key). The key is the 64-bit seed, low word
 * first. */
void hpcw_i_philox(const uint32_t counter[4], uint64_t seed, uint32_t out[4]);

/* Computes the four random words of a draw with the counter (a, b, c, purpose). */
void hpcw_i_draw(uint64_t seed, enum hpcw_i_purpose purpose, uint32_t a, uint32_t b, uint32_t c,
                 uint32_t out[4]);

/* Returns a nearly normal number with mean 0, variance 1 and |z| <= 3.4641. The sum of the four 16-bit halves of
 * the words is centred and multiplied by sqrt(3) / 65536. */
double hpcw_i_normal(uint32_t word0, uint32_t word1);

#define HPCW_I_NORMAL_CENTRE 131070                 /* mean of the sum of four 16-bit halves */
#define HPCW_I_NORMAL_SCALE (0x1.bb67ae8584caap-16) /* sqrt(3) / 65536, nearest double */
#define HPCW_I_NORMAL_MAX (HPCW_I_NORMAL_CENTRE * HPCW_I_NORMAL_SCALE)

/* Returns a number uniform in (0, 1]: (word + 1) / 2^32. */
double hpcw_i_uniform(uint32_t word);

/* Returns the threshold of an event with this probability, probability * 2^32. The event happens if a random word
 * is below the threshold. With a probability of 1 or more, the event always happens. */
uint64_t hpcw_i_threshold(double probability);

/* Returns an unbiased integer in 0 .. bound - 1, bound > 0. Uses the draw with the counter (a, b, try). `try` is 0
 * except after a rejection, which has a probability below bound / 2^65. */
uint64_t hpcw_i_below(uint64_t bound, uint64_t seed, enum hpcw_i_purpose purpose, uint32_t a, uint32_t b);

/* Shuffles by Fisher-Yates: every order of item[0 .. count - 1] is equally likely. Uses the draws with the counters
 * (first_slot + index, permutation, try). If parts of an array are shuffled separately, each part passes another
 * first_slot. */
void hpcw_i_shuffle(uint32_t *item, uint32_t count, uint64_t seed, enum hpcw_i_purpose purpose,
                    uint32_t permutation, uint32_t first_slot);

#endif
