/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lease on the directory of a dataset: who writes there. One file, which a run creates under a name that only one can
 * have and locks until it ends; its text is for people.
 *
 *   DIR/.hpcw/lease      a run that writes the whole dataset, or a part while it looks at the directory
 *   DIR/.hpcw/part.TAG   a part, after that; parts of one dataset write at the same time
 *
 * A run is alive while its file is locked. A file without a lock is that of a dead run, if it is of this host since it was
 * started; otherwise, or where the file system has no locks, nobody can know: such a lease stays, unless gen_run.takeover
 * is set.
 */
#ifndef HPCW_GEN_DATASET_DIRECTORY_LEASE_H
#define HPCW_GEN_DATASET_DIRECTORY_LEASE_H

#include "gen/dataset/directory/directory.h"
#include "libwriter/io/sys.h"

#define GEN_LEASE "lease"
enum { GEN_LEASE_NAME = 64 };

struct gen_lease {
    struct gen_run *run;      /* NULL: nothing is taken */
    struct hpcw_i_dir *state; /* .hpcw */
    int fd;                   /* locked; -1: no lease */
    bool owned;               /* this process has taken it, and removes it */
    bool made_directory;      /* of the dataset; `directory` is this one then */
    struct hpcw_i_file_id directory;
    struct hpcw_i_file_id id;  /* of the lease */
    char name[GEN_LEASE_NAME]; /* in .hpcw */
};

/*
 * Takes the lease, and creates the directory and that of its state for it. From then on the run holds both. A run that is no
 * part also waits for no part. HPCW_EEXIST says who has it, or what else has the name of its file. `what` for people: "generate".
 * After a failure nothing is left; gen_lease_end is allowed.
 */
hpcw_status gen_lease_take(struct gen_run *run, const char *what, struct gen_lease *lease, hpcw_error *err);

/* Whether this is the name in .hpcw of a lease, or of a part. */
bool gen_lease_is_name(const char *name);

/* Lets other parts of the same dataset in. */
hpcw_status gen_lease_share(struct gen_lease *lease, hpcw_error *err);

/* Collective. The run is alive as long as one of its processes is: each one locks a byte of process 0's lease, and holds the
 * directory. HPCW_EMISMATCH if one does not see it: its path is another directory. */
hpcw_status gen_lease_hold(struct gen_lease *lease, struct gen_run *run, hpcw_error *err);

/* HPCW_ESTATE if the lease was taken over by another run. */
hpcw_status gen_lease_check(const struct gen_lease *lease, hpcw_error *err);

/* Gives up the lease and the directory, and removes the directories if they are empty and nobody else needs them. */
void gen_lease_end(struct gen_lease *lease);

#endif
