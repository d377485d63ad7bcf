/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Machines by name, and the table of their parameters. Sources in brackets:
 *
 * P1   JUPITER Benchmark Suite, LinkTest description (2024): JUWELS Booster, cells of 48 nodes
 * P2   J. Grimm, osu table of an HDR100/EDR-class fat tree (2021)
 * P4   CSCS ReFrame checks, osu_tests references
 * P5   LUMI documentation, network page: 16 switches x 16 nodes per group; LUMI ReFrame issue 7
 * P6   Ajima et al., "The Tofu interconnect D", IEEE Cluster 2018: 0.49 us, 6.8 GB/s a link at 93 %; X Y Z by
 *      2 x 3 x 2
 * P9   NVIDIA HPC-X ClusterKit manual    P10  GB10 cluster guide, bandwidth table (2026)
 * P12  Narval documentation (Digital Research Alliance of Canada): islands with 33:7 blocking
 * P13  JUPITER configuration page: groups of 240 nodes, 15 lower switches, 4 x 72 cores, 4 x NDR200 a node
 * P14  host names seen in public course notes, logs and tools
 * P15  De Sensi et al., "An In-Depth Analysis of the Slingshot Interconnect", SC20: 350 ns a switch
 * C1   JUWELS configuration page: 2 x EPYC 7402, 24 cores each; 8 caches of 16 MB a processor: 3 cores share one
 * C2   LUMI-C: 2 x 64-core EPYC "Milan", 8 cores a die with one L3 (LUMI architecture slides, zenodo 10683366)
 * C3   Narval: 2 x EPYC 7532, 32 cores each; 16 caches of 16 MB a processor: 2 cores share one
 * C4   Fujitsu A64FX (Fujitsu Technical Review, "Supercomputer Fugaku CPU A64FX"): 48 compute cores in 4 groups of
 *      12 with an L2 each
 * F1   OLCF, Summit user guide: Alpine, 77 GL4 building blocks with two servers each, 2.5 TB/s
 * F2   Dell HPC Lustre Storage solution with Mellanox Infiniband EDR, figure 12: 29 thousand creates a second
 * M    measured with Open MPI 4.1.4 on 2 cores of an EPYC virtual machine
 * A    assumption, chosen for plausibility
 */
#include <stddef.h>
#include <string.h>

#include "gen/model/machine/machine.h"
#include "libwriter/base/status.h"

#define ALL_HOSTS "jwb", "nid", "frontier", "node"
static const char *const hosts_names[] = {ALL_HOSTS, NULL};

/* Base parameters: HDR200, as LinkTest measures it [P1, P2, P5, A]. Times within a node: [M, A]. The functions
 * network_* below replace some of them, and the table of shapes gives the rest. */
static const struct model_machine_params hdr200 = {
    /* within a node [M, A]; between nodes [P2], plus 0.09 us for each further switch [A] */
    .message.latency_us = {0.11, 0.25, 0.45, 0.9, 1.08, 1.35},
    .message.line_gbs = {14.7, 12, 9, 25, 25, 25},
    /* within a node [M]; between nodes: the times of [P1], minus the other parts of a message's time in this
     * table */
    .message.protocol_us = {0.03, 0.03, 0.03, 0.07, 0.07, 0.07},
    .message.rendezvous_us = {1.7, 1.7, 1.7, 0.03, 0.03, 0.03},
    .message.protocol_node = 256,
    .message.protocol_net = 4096,
    .message.eager_node = 2048, /* [M]: the jump of the times lies between 1K and 4K */
    .message.eager_net = 8192,  /* eager size in osu tables of Aries */
    .message.hop_us = 0,
    .nodes = 936, /* nodes of JUWELS Booster [C1] */
    /* 10 links to each of the 19 other cells [A]. If half of the messages take detours, these links give the
     * share of the bandwidth in [P1]. */
    .group_links = 190,
    .detours = true,
    .busy_share = 0.2,         /* [A] */
    .collisions = 0.15,        /* [A] */
    .background = 0.75,        /* [A] */
    .congestion_spread = 0.67, /* derived from the best and the mean step in [P1] */
    .window_ms = 20,           /* [A] */
    .pair_spread = 0.004,      /* [P1] */
    .gpu.count = 4,
    .gpu.latency_node_us = 2.2, /* [A] */
    .gpu.node_gbs = 100,        /* 4 of the 12 NVLinks of 25 GB/s between two A100 [C1] */
    .gpu.latency_net_us = 0.9,  /* [A] */
    /* node_share, weight, cable_share and cable_factor: [A] */
    .bad.node_share = 0.004,
    .bad.factor = {0.5, 0.25, 0.11}, /* a factor below 0.93 is visible [P9]; 0.11 was measured [P10] */
    .bad.weight = {0.6, 0.3},
    .bad.cable_share = 0.001,
    .bad.cable_factor = 0.5,
    .file.nodes = 30, /* one server for 30 nodes: 154 servers for 4608 nodes, together 2.5 TB/s [F1] */
    .file.server_gbs = 16.2,
    .file.client_gbs = 12.5, /* half of a network card's bandwidth [A] */
    .file.creates = 29000,   /* [F2] */
    /* [A]: a few of a thousand nodes run below their clock rate, for instance when hot */
    .slow_node_share = 0.003,
    .slow_node_factor = 1.3, /* [A]: mean compute time on a slow node divided by that on others */
};

static void network_ss11(struct model_machine_params *p) {
    p->message.latency_us[MODEL_SAME_SWITCH] = 1.6; /* [P5] */
    p->message.latency_us[MODEL_SAME_GROUP] = 1.95; /* 0.35 us more for each further switch [P15] */
    p->message.latency_us[MODEL_OTHER_GROUP] = 2.3;
    p->nodes = 2978;
    p->group_links = 128; /* half of the network cards of a group [A] */
    p->gpu.count = 0;
}

static void network_ndr200(struct model_machine_params *p) {
    p->nodes = 6000;
    /* 20 links of 400 Gb/s to each of the 26 other groups: the free ports of 16 switches of 64 ports [P13] */
    p->group_links = 1040;
    p->gpu.node_gbs = 150; /* [P13] */
}

static void network_hdr100(struct model_machine_params *p) {
    for (int c = MODEL_SAME_SWITCH; c < MODEL_CLASSES; c++) {
        p->message.line_gbs[c] = 12.5;
        p->message.protocol_us[c] = 7.6; /* fit of [P2], like protocol_net */
        p->message.rendezvous_us[c] = 0;
    }
    p->message.protocol_net = 11000;
    p->nodes = 1145;
    /* an island of 66 nodes with cards of 100 Gb/s has 7 links of 200 Gb/s, as fast as 14 cards [P12] */
    p->group_links = 14;
    p->detours = false;
    p->gpu.count = 0;
}

static void network_tofud(struct model_machine_params *p) {
    p->torus = true;
    for (int c = MODEL_SAME_SWITCH; c < MODEL_CLASSES; c++) {
        p->message.latency_us[c] = 0.49;
        p->message.line_gbs[c] = 6.324; /* 93 % of 6.8 GB/s [P6] */
    }
    p->message.hop_us = 0.1; /* [A] */
    p->nodes = 158976;
    p->gpu.count = 0;
}

static void network_tcp(struct model_machine_params *p) {
    for (int c = MODEL_SAME_SWITCH; c < MODEL_CLASSES; c++) {
        p->message.latency_us[c] = 24.5;
        p->message.line_gbs[c] = 0.1177; /* 125 MB/s less the headers of the frames [P2] */
        p->message.protocol_us[c] = 110; /* fit of [P2], like protocol_net */
        p->message.rendezvous_us[c] = 0;
    }
    p->message.protocol_net = 5000;
    p->nodes = 256; /* [A] */
    p->gpu.count = 0;
}

const struct model_machine_preset model_machine_preset[] = {
    {"dfplus-hdr200", "dragonfly+ of 48-node cells, 4 x HDR200 a node, one rank per card (JUWELS Booster)"},
    {"dragonfly-ss11", "Slingshot-11 dragonfly of 256-node groups, 128 ranks a node (LUMI)"},
    {"fattree-hdr100", "HDR100 fat tree of 66-node islands with 33:7 blocking, 64 ranks a node (Narval)"},
    {"dfplus-ndr200", "dragonfly+ of 240-node groups, 4 x NDR200 a node (JUPITER)"},
    {"torus-tofud", "six-dimensional TofuD torus, 4 ranks a node (Fugaku)"},
    {"tcp-1g", "one gigabit Ethernet switch, 16 ranks a node"},
};
const size_t model_machine_preset_count = sizeof model_machine_preset / sizeof model_machine_preset[0];

/* Shape of the nodes and groups of each preset. NULL: the network of hdr200. */
static const struct preset_shape {
    uint32_t ppn, cores, cores_per_cache, cores_per_socket, nics, nodes_per_switch, nodes_per_group;
    enum model_hosts hosts;
    void (*network)(struct model_machine_params *p);
} shapes[] = {
    /* ranks: one per network card [P1]; cores [C1]; nodes of a switch [A]; nodes of a group [P1] */
    {4, 48, 3, 24, 4, 24, 48, MODEL_HOSTS_JWB, NULL},
    /* cores [C2]; one network card of 200 Gb/s, as HDR200; switches and groups [P5] */
    {128, 128, 8, 64, 1, 16, 256, MODEL_HOSTS_NID, network_ss11},
    /* ranks: one per core [A]; cores [C3]; islands [P12] */
    {64, 64, 2, 32, 1, 66, 66, MODEL_HOSTS_NODE, network_hdr100},
    /* ranks: one per Grace processor [P13] */
    {4, 288, 72, 72, 4, 16, 240, MODEL_HOSTS_NODE, network_ndr200},
    /* ranks: one per group of cores [A]; cores [C4] */
    {4, 48, 12, 48, 6, 0, 0, MODEL_HOSTS_NODE, network_tofud},
    /* two processors of 8 cores, each with one cache [A] */
    {16, 16, 8, 8, 1, 0, 0, MODEL_HOSTS_NODE, network_tcp},
};
_Static_assert(sizeof shapes / sizeof shapes[0] == sizeof model_machine_preset / sizeof model_machine_preset[0],
               "a shape for every preset");

hpcw_status model_machine_params_init(struct model_machine_params *params, const char *preset,
                                      hpcw_error *err) {
    size_t i = 0;
    while (i < model_machine_preset_count && strcmp(preset, model_machine_preset[i].name) != 0) {
        i++;
    }
    if (i == model_machine_preset_count) {
        return hpcw_i_fail(
            err, HPCW_EINVAL,
            "preset: expected dfplus-hdr200, dragonfly-ss11, fattree-hdr100, dfplus-ndr200, torus-tofud or "
            "tcp-1g, got \"%s\"",
            preset);
    }
    const struct preset_shape *s = &shapes[i];
    *params = hdr200;
    params->ppn = s->ppn;
    params->cores = s->cores;
    params->cores_per_cache = s->cores_per_cache;
    params->cores_per_socket = s->cores_per_socket;
    params->nics = s->nics;
    params->nodes_per_switch = s->nodes_per_switch;
    params->nodes_per_group = s->nodes_per_group;
    params->hosts = (int)s->hosts;
    if (s->network != NULL) {
        s->network(params);
    }
    return HPCW_OK;
}

/* ------------------------------------------------------------------------------------------------------------
 */

#define PARAM(name, kind, field, ...)                                                                          \
    UI_PARAM(struct model_machine_params, "machine." name, kind, field, __VA_ARGS__)
#define MICROSECONDS(name, f, text) PARAM(name, F64, f, 0, 1e6, "us", text)
#define BANDWIDTH(name, f, text) PARAM(name, F64, f, 1e-3, 1e6, "GB/s", text)
#define SHARE(name, f, text) PARAM(name, F64, f, 0, 1, NULL, text)
#define LEFT(name, f, text) PARAM(name, F64, f, 0.001, 1, NULL, text)
#define DISTANCE(digit, where)                                                                                 \
    MICROSECONDS("latency_" #digit, message.latency_us[digit], "latency, " where),                             \
        BANDWIDTH("line_" #digit, message.line_gbs[digit], "line rate, " where),                               \
        MICROSECONDS("protocol_" #digit, message.protocol_us[digit],                                           \
                     "time that copies add to a large message, " where),                                       \
        MICROSECONDS("rendezvous_" #digit, message.rendezvous_us[digit],                                       \
                     "time that the handshake of a rendezvous adds, " where)

const struct ui_param model_machine_param[] = {
    PARAM("ppn", U32, ppn, 1, 65536, NULL, "ranks per node"),
    PARAM("cores", U32, cores, 1, 65536, NULL, "cores per node"),
    PARAM("cores_per_cache", U32, cores_per_cache, 1, 65536, NULL, "cores that share a last-level cache"),
    PARAM("cores_per_socket", U32, cores_per_socket, 1, 65536, NULL, "cores per processor"),
    PARAM("nics", U32, nics, 1, 1024, NULL, "network cards per node, shared by its ranks"),
    PARAM("nodes_per_switch", U32, nodes_per_switch, 0, 0x1p20, NULL, "nodes per switch; 0: all"),
    PARAM("nodes_per_group", U32, nodes_per_group, 0, 0x1p20, NULL,
          "nodes per group, a multiple of machine.nodes_per_switch; 0: all"),
    PARAM("torus", BOOL, torus, .help = "nodes form a torus of x by y by z units of 2 x 3 x 2 nodes"),
    PARAM("torus_x", U32, torus_x, 0, 1024, NULL, "torus units along x; 0: from the number of nodes"),
    PARAM("torus_y", U32, torus_y, 0, 1024, NULL, "torus units along y; 0: from the number of nodes"),
    PARAM("torus_z", U32, torus_z, 0, 1024, NULL, "torus units along z; 0: from the number of nodes"),
    PARAM("hosts", CHOICE, hosts, .choices = hosts_names,
          .help =
              "node names: jwb0001.juwels, nid005000, frontier00001 or node00001 [P14]; the last on a machine "
              "that has more nodes than the one of these names"),
    DISTANCE(0, "same cache"),
    DISTANCE(1, "same processor"),
    DISTANCE(2, "same node"),
    DISTANCE(3, "same switch"),
    DISTANCE(4, "same group"),
    DISTANCE(5, "other group"),
    MICROSECONDS("hop", message.hop_us, "torus: time of each hop beyond the first"),
    PARAM("eager_node", SIZE, message.eager_node, 0, 0x1p50, "bytes", "largest eager message within a node"),
    PARAM("eager_net", SIZE, message.eager_net, 0, 0x1p50, "bytes", "largest eager message between nodes"),
    PARAM("protocol_node", SIZE, message.protocol_node, 1, 0x1p50, "bytes",
          "size at which copies add half of machine.protocol, within a node"),
    PARAM("protocol_net", SIZE, message.protocol_net, 1, 0x1p50, "bytes",
          "size at which copies add half of machine.protocol, between nodes"),
    PARAM("nodes", U32, nodes, 1, 0x1p30, NULL, "nodes of the whole machine; a larger job enlarges it"),
    SHARE("busy_share", busy_share,
          "share of the nodes that other jobs have, between those of this job; 0: the first nodes of the "
          "machine"),
    PARAM("job", U32, job, 0, 4294967295.0, NULL,
          "number of the job: which nodes it has, and how busy the network is while it runs; 0: from the seed"),
    PARAM("switch_links", U32, switch_links, 0, 0x1p20, NULL,
          "links of a switch to the others of its group; 0: as many as its nodes have cards"),
    PARAM("group_links", U32, group_links, 0, 0x1p20, NULL,
          "links of a group to others; 0: as many as its nodes have cards"),
    PARAM("detours", BOOL, detours,
          .help =
              "the links lead from group to group, and messages also take detours; otherwise to a common core"),
    SHARE("collisions", collisions, "time that messages lose to each other on a link that is just full"),
    SHARE("background", background, "share of the time that the nodes of other jobs send"),
    PARAM("congestion_spread", F64, congestion_spread, 0, 100, NULL,
          "mean congestion of a link, as a share of that in its most quiet window"),
    PARAM("window", F64, window_ms, 0.001, 1e9, "ms", "length of a time window with the same congestion"),
    SHARE("pair_spread", pair_spread,
          "constant spread between pairs of ranks: standard deviation, as a share of the time"),
    PARAM("gpus", U32, gpu.count, 0, 65536, NULL, "GPUs of a node; 0: none"),
    MICROSECONDS("gpu_latency_node", gpu.latency_node_us, "latency between the GPUs of a node"),
    BANDWIDTH("gpu_node", gpu.node_gbs, "line rate between the GPUs of a node"),
    MICROSECONDS("gpu_latency_net", gpu.latency_net_us, "latency that buffers in GPU memory add between nodes"),
    SHARE("bad_node_share", bad.node_share, "share of nodes with a bad port, in a random direction"),
    LEFT("bad_factor_1", bad.factor[0], "share of the bandwidth left at a bad port, first kind"),
    LEFT("bad_factor_2", bad.factor[1], "share of the bandwidth left at a bad port, second kind"),
    LEFT("bad_factor_3", bad.factor[2], "share of the bandwidth left at a bad port, third kind"),
    SHARE("bad_weight_1", bad.weight[0], "share of the first kind of bad ports"),
    SHARE("bad_weight_2", bad.weight[1], "share of the second kind of bad ports; the third has the rest"),
    SHARE("bad_cable_share", bad.cable_share, "share of switch pairs with a bad cable"),
    LEFT("bad_cable_factor", bad.cable_factor, "share of the bandwidth left over a bad cable"),
    PARAM("file_servers", U32, file.servers, 0, 0x1p20, NULL,
          "servers of files' data; 0: as many as machine.file_nodes says"),
    PARAM("file_nodes", U32, file.nodes, 1, 0x1p20, NULL, "nodes of the job for each server of files' data"),
    BANDWIDTH("file_server", file.server_gbs, "rate of a server of files' data"),
    BANDWIDTH("file_client", file.client_gbs,
              "rate at which a node reads and writes files, at most that of its cards"),
    PARAM("file_creates", F64, file.creates, 1e-3, 1e9, "/s", "files that the metadata server can make"),
    SHARE("slow_node_share", slow_node_share, "share of slow nodes"),
    PARAM("slow_node_factor", F64, slow_node_factor, 1, 1000, NULL,
          "mean factor of compute times on slow nodes; what they lose differs by up to a quarter"),
};
const size_t model_machine_param_count = sizeof model_machine_param / sizeof model_machine_param[0];
