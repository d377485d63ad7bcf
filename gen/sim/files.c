/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/sim/files.h"

#include <inttypes.h>

#include "gen/sim/private.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

/* PIECE: bytes that a request to a data server moves, as in Lustre (max_pages_per_rpc).
 * MOST_PIECES: largest number of requests of a call. Those of a larger file are larger, so that a run has few of them:
 * with twice as many, checkpoints of 200 MB take 1 % longer. */
enum { PIECE = 4 << 20, MOST_PIECES = 16 };

/* ---- the servers ---- */

static double least(double a, double b) {
    return a < b ? a : b;
}

hpcw_status sim_files_init(struct sim *sim, hpcw_error *err) {
    const struct model_machine *machine = sim->options.network->machine;
    const struct model_machine_params *p = &machine->params;
    struct sim_files *f = &sim->files;
    const uint32_t share = (machine->nodes + p->file.nodes - 1) / p->file.nodes;
    f->servers = p->file.servers > 0 ? p->file.servers : share;
    f->server_gbs = p->file.server_gbs;
    f->client_gbs = least(p->file.client_gbs, p->nics * p->message.line_gbs[MODEL_SAME_SWITCH]);
    f->create_ns = (uint64_t)(1e9 / p->file.creates + 0.5);
    f->server_ns = hpcw_i_calloc(f->servers, sizeof *f->server_ns);
    f->node_ns = hpcw_i_calloc(machine->nodes, sizeof *f->node_ns);
    return f->server_ns != NULL && f->node_ns != NULL
               ? HPCW_OK
               : hpcw_i_fail_memory(err, "simulator", machine->nodes, "nodes");
}

void sim_files_free(struct sim *sim) {
    hpcw_i_free(sim->files.server_ns);
    hpcw_i_free(sim->files.node_ns);
}

/* Waits in a queue from `time_ns` until *free_ns, when the server is free, and keeps the server busy for
 * `busy_ns`. Returns the end of this time. */
static uint64_t pass_queue(uint64_t *free_ns, uint64_t time_ns, uint64_t busy_ns) {
    *free_ns = (*free_ns > time_ns ? *free_ns : time_ns) + busy_ns;
    return *free_ns;
}

static uint64_t time_at(double gbs, uint64_t bytes) {
    return (uint64_t)((double)bytes / gbs + 0.5);
}

/* Moves a piece of a file through the rank's node and the data server at the same time. Returns the time at which
 * both have finished. */
static uint64_t move_piece(struct sim *sim, uint32_t rank, uint64_t time_ns, uint64_t bytes) {
    struct sim_files *f = &sim->files;
    const uint32_t node = model_machine_node(sim->options.network->machine, rank);
    const uint32_t server = (uint32_t)(((uint64_t)rank + sim->rank[rank].file.opened) % f->servers);
    const uint64_t left_ns = pass_queue(&f->node_ns[node], time_ns, time_at(f->client_gbs, bytes));
    const uint64_t there_ns = pass_queue(&f->server_ns[server], time_ns, time_at(f->server_gbs, bytes));
    return left_ns > there_ns ? left_ns : there_ns;
}

void sim_files_serve(struct sim *sim, uint32_t rank, uint64_t time_ns) {
    struct sim_file *file = &sim->rank[rank].file;
    uint64_t end_ns = time_ns;
    if (file->looks_up) {
        file->looks_up = false;
        end_ns = pass_queue(&sim->files.metadata_ns, time_ns, sim->files.create_ns);
    } else {
        const uint64_t bytes = file->left < file->piece ? file->left : file->piece;
        end_ns = move_piece(sim, rank, time_ns, bytes);
        file->left -= bytes;
    }
    if (file->left > 0) {
        sim_may_end(sim, rank, end_ns);
    } else {
        sim->rank[rank].timed = SIM_NOT_TIMED;
        sim_wake(sim, rank, sim_disturb(sim, rank, end_ns));
    }
}

static void begin(struct sim *sim, uint32_t rank, uint64_t time_ns, uint64_t bytes, bool looks_up) {
    struct sim_file *file = &sim->rank[rank].file;
    const uint64_t piece = (bytes + MOST_PIECES - 1) / MOST_PIECES;
    file->left = bytes;
    file->piece = piece > PIECE ? piece : PIECE;
    file->looks_up = looks_up;
    sim->rank[rank].timed = SIM_FILE;
    sim_may_end(sim, rank, time_ns);
}

void sim_files_checkpoint(struct sim *sim, uint32_t rank, uint64_t time_ns, uint64_t bytes) {
    sim->rank[rank].file.opened++;
    begin(sim, rank, time_ns, bytes, true);
}

/* ---- calls ---- */

static enum sim_answer begin_call(struct sim *sim, uint32_t rank, enum sim_call call, uint64_t bytes) {
    sim_begin_call(sim, rank, SIM_WORLD, call);
    const enum sim_answer answer = sim_block(sim, rank);
    begin(sim, rank, sim_least_end_ns(sim, rank), bytes, call == SIM_CALL_FILE_OPEN);
    return answer;
}

static bool is_open(struct sim *sim, uint32_t rank, enum sim_call call) {
    if (!sim->rank[rank].file.open) {
        (void)sim_refuse(sim, "%s: expected a file that the rank has opened, got none", sim_call_name[call]);
    }
    return sim->rank[rank].file.open;
}

enum sim_answer sim_file_open(struct sim *sim, uint32_t rank) {
    struct sim_file *file = &sim->rank[rank].file;
    if (file->open) {
        return sim_refuse(sim, "file_open: expected one open file of a rank at a time, got another one");
    }
    file->open = true;
    file->opened++;
    return begin_call(sim, rank, SIM_CALL_FILE_OPEN, 0);
}

enum sim_answer sim_file_move(struct sim *sim, uint32_t rank, enum sim_call call, uint64_t bytes) {
    return is_open(sim, rank, call) ? begin_call(sim, rank, call, bytes) : SIM_REFUSED;
}

enum sim_answer sim_file_close(struct sim *sim, uint32_t rank) {
    if (!is_open(sim, rank, SIM_CALL_FILE_CLOSE)) {
        return SIM_REFUSED;
    }
    sim->rank[rank].file.open = false;
    sim_begin_call(sim, rank, SIM_WORLD, SIM_CALL_FILE_CLOSE);
    return sim_end_call(sim, rank, sim_least_end_ns(sim, rank));
}
