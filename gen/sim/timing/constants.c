/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sources:
 *
 * L    Alexandrov, Ionescu, Schauser, Scheiman: "LogGP", SPAA 1995: the latency of a message is wire time and processor time
 *      at both ends
 * M    logs of real programs under the wrapper, source M1 of doc/realism.md: in MG, the median MPI_Irecv takes 70 ns and the
 *      median MPI_Wait 30 ns
 * S    SimGrid's calibrations, source P9 of doc/realism.md: a read of the clock by MPI_Wtime takes 31 to 47 ns. The length of
 *      a call in a log contains one such read. For up to 64 bytes, MPI_Isend and the MPI_Recv of a message that is there take
 *      0.12 to 0.44 of half a round trip on miriel, sirocco and taurus; the median is 0.23.
 * G    Netgauge on Tukey, source P8 of doc/realism.md: for 1 to 64 bytes, LogGP's overheads o_s and o_r are 0.16 to 0.22 of
 *      half a round trip, the latency here; the median is 0.21
 * N    NVIDIA, ConnectX-6 user manual, Introduction: 215 million messages per second
 * T    Thakur, Rabenseifner, Gropp: "Optimization of Collective Communication Operations in MPICH", IJHPCA 19(1), 2005. MPICH
 *      has the values as defaults of MPIR_CVAR_BCAST_SHORT_MSG_SIZE, MPIR_CVAR_BCAST_MIN_PROCS and others like them, in
 *      src/mpi/coll. Its ring for broadcasts of 512 KiB and more is left out: without contention it moves as many bytes as
 *      recursive doubling. So are its alltoalls of 257 bytes to 32 KiB that post all messages at once: they move as many
 *      bytes as pairs do. Its Bruck's algorithm for small alltoalls is taken for fewer than 8 ranks, too.
 * O    OSU Micro-Benchmarks on Lassen, source C1 of doc/realism.md: allreduces of 512 KiB and 1 MiB on 16, 32, 64 and 128
 *      ranks take 0.04 to 0.21 ns longer, for each byte that a rank combines, than their messages take here; the median is
 *      0.10
 * K    Linux kernel documentation, tools/rtla and trace/osnoise-tracer: noise that the tracer osnoise measured. In
 *      rtla-osnoise-top, 4 processors for a minute: 1,000 timer interrupts a second, all noise 0.39 to 0.64 % of the
 *      time. In osnoise-tracer, 8 processors of a virtual machine for a second: 88 interruptions by threads and 72 by
 *      firmware or hypervisor; the longest one of each processor is 9 to 202 us, with quartiles 45, 66 and 107 us. There
 *      and in timerlat-tracer, a timer interrupt takes 1.8, 2.8 and 7.6 us. In admin-guide/kernel-parameters, skew_tick,
 *      which is off by default, moves the timer interrupts of processors apart.
 *      Nothing is taken from rtla-osnoise-hist: there, 12 processors had 480 interruptions of 20 us and more in a minute, 195
 *      of 30 us and more and 41 of 40 us and more, a tenth of the detours here.
 * F    EDK II, source P10 of doc/realism.md: firmware that handles an interrupt waits until all processors of the host have
 *      stopped
 * P    Acun, Miller, Kale: "Variation Among Processors Under Turbo Boost in HPC Systems", ICS 2016: up to 16 % between
 *      processors of Edison, Cab and Stampede; below 1 % on Blue Waters, which does not overclock
 * A    assumption: the reason is in parentheses, with the changes of the figures of doc/realism.md (the gate) if the value
 *      is halved (half) or doubled (twice)
 */
#include "gen/sim/timing/constants.h"

const struct sim_constant_row sim_constant_row[SIM_CONSTANTS] = {
    [SIM_CALL] = {"call", 50, "ns", "[M], the mean of both; [S]", "length of a receive from nobody"},
    [SIM_OVERHEAD] = {"overhead", 0.21, "share of the latency", "[L], [G]; [S] has 0.23",
                      "processor time of a send"},
    [SIM_GAP] = {"gap", 4.65, "ns per message of a card",
                 "[N], A (other cards are as fast; half or twice: gate within 3 %)",
                 "messages of a node in a second"},
    [SIM_COMBINE] = {"combine", 0.1, "ns per byte", "[O]", "time to combine 1 MiB"},
    [SIM_BCAST_MEDIUM] = {"bcast_medium", 12288, "bytes", "[T]", "broadcast of 256 KiB"},
    [SIM_BCAST_RANKS] = {"bcast_ranks", 8, "ranks", "[T]", "broadcast of 1 MiB to 4 ranks"},
    [SIM_ALLREDUCE_LONG] = {"allreduce_long", 2048, "bytes", "[T]", "allreduce of 256 KiB"},
    [SIM_REDUCE_LONG] = {"reduce_long", 2048, "bytes", "[T]", "reduce of 256 KiB"},
    [SIM_ALLGATHER_LONG] = {"allgather_long", 524288, "bytes", "[T]", "allgather of 64 KiB on 256 ranks"},
    [SIM_ALLGATHER_ODD] = {"allgather_odd", 81920, "bytes", "[T]", "allgather of 64 KiB on 255 ranks"},
    [SIM_ALLTOALL_LONG] = {"alltoall_long", 256, "bytes", "[T]", "alltoall of 256 KiB"},
    [SIM_PROCESSORS] =
        {"processors", 0.04, "share of the time",
         "[P], A (a half-normal distribution, at most 3.46 times its scale: 14 %; noise.processors of the gate "
         "is 11 %, half: 6 %, twice: 22 %)",
         "spread of processors"},
    [SIM_TICK_PERIOD] = {"tick_period", 1e6, "ns", "[K]", "period of the ticks"},
    [SIM_TICK] = {"tick", 5000, "ns", "[K]: all noise is 0.39 to 0.64 %, of which the detours here take 0.05 %",
                  "time lost to the system"},
    [SIM_DETOUR_RATE] = {"detour_rate", 20, "per second", "[K]: 160 interruptions of 8 processors in a second",
                         "longest interruption of a second"},
    [SIM_DETOUR_SHARED] = {"detour_shared", 0.45, "share of the detours",
                           "[K]: 72 of the 160 are those of firmware; [F]", "interruptions of a whole host"},
    [SIM_DETOUR_LEAST] = {"detour_least", 12000, "ns",
                          "[K], fit: the longest one of a second has quartiles of 44, 61 and 90 us here",
                          "longest interruption of a second"},
    [SIM_DETOUR_MOST] = {"detour_most", 200000, "ns", "[K]: the longest one of all took 202 us",
                         "longest interruption of all"},
};

void sim_constants_init(struct sim_constants *constants) {
    for (int i = 0; i < SIM_CONSTANTS; i++) {
        constants->value[i] = sim_constant_row[i].value;
    }
}
