/* SPDX-License-Identifier: BSD-3-Clause */
/* Lease on the directory of a dataset: a file that says which run writes there. A run creates it under a name
 * that only one run can have, and locks it until the run ends. The text of the file is for people.
 *
 *  DIR/.hpcw/lease      lease of a run that writes the whole dataset, or of a part that examines the directory
 *  DIR/.hpcw/part.TAG   lease of a part that writes; several parts of a dataset write at the same time
 *
 * A run is alive while its lease is locked. A lease without a lock, written on this host since its last boot,
 * is that of a dead run. For leases of other hosts or boots, and on file systems without locks, nobody can tell
 * whether the run is alive. Such a lease stays unless gen_run.takeover is set. */
#ifndef HPCW_GEN_DATASET_DIRECTORY_LEASE_H
#define HPCW_GEN_DATASET_DIRECTORY_LEASE_H

#include "gen/dataset/directory/directory.h"
#include "libwriter/io/sys.h"

#define GEN_LEASE "lease"
enum { GEN_LEASE_NAME = 64 };

struct gen_lease {
    struct gen_run *run;      /* NULL: the lease is not taken */
    struct hpcw_i_dir *state; /* .hpcw */
    int fd;                   /* descriptor of the locked file; -1: no lease */
    bool owned;               /* this process took the lease and removes it */
    /* this run made the dataset's directory, whose id is `directory` */
    bool made_directory;
    struct hpcw_i_file_id directory;
    struct hpcw_i_file_id id;  /* id of the lease file */
    char name[GEN_LEASE_NAME]; /* in .hpcw */
};

/* Takes the lease, and holds the dataset's directory and .hpcw open; creates them if needed. A run of the whole
 * dataset also requires that no run of a part is alive. `what`: name of the action for people, as "generate".
 * HPCW_EEXIST: another run has the lease, or another file has its name; the message says which. After a failure
 * nothing is left; gen_lease_end is allowed. */
hpcw_status gen_lease_take(struct gen_run *run, const char *what, struct gen_lease *lease, hpcw_error *err);

/* Returns whether a name in .hpcw is that of a lease: "lease" or "part.TAG". */
bool gen_lease_is_name(const char *name);

/* Renames the lease of a part from "lease" to "part.TAG", so that other parts of the dataset can start. */
hpcw_status gen_lease_share(struct gen_lease *lease, hpcw_error *err);

/* Collective. Keeps the lease locked as long as one process of the run lives: each process locks a byte of
 * process 0's lease and holds the directory open. HPCW_EMISMATCH: on some process, the path leads to another
 * directory. */
hpcw_status gen_lease_hold(struct gen_lease *lease, struct gen_run *run, hpcw_error *err);

/* Fails with HPCW_ESTATE if another run took the lease over. */
hpcw_status gen_lease_check(const struct gen_lease *lease, hpcw_error *err);

/* Removes the lease and releases the directories. Then removes .hpcw if it is empty, and also the dataset's
 * directory if it is empty and this run made it. */
void gen_lease_end(struct gen_lease *lease);

#endif
