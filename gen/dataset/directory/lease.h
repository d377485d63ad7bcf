/* SPDX-License-Identifier: BSD-3-Clause */
/* Lease on the directory of a dataset: it says which run writes there. It is one file. A run creates it under a
 * name that only one run can have, and locks it until the run ends. The file's text is for people.
 *
 *  DIR/.hpcw/lease      a run that writes the whole dataset, or a part while it examines the directory
 *  DIR/.hpcw/part.TAG   a part after that; parts of one dataset write at the same time
 *
 * A run is alive while its file is locked. An unlocked file of this host, made since its last boot, is that of a
 * dead run. Of other unlocked files, or without locks in the file system, nobody can tell. Such a lease stays
 * unless gen_run.takeover is set. */
#ifndef HPCW_GEN_DATASET_DIRECTORY_LEASE_H
#define HPCW_GEN_DATASET_DIRECTORY_LEASE_H

#include "gen/dataset/directory/directory.h"
#include "libwriter/io/sys.h"

#define GEN_LEASE "lease"
enum { GEN_LEASE_NAME = 64 };

struct gen_lease {
    struct gen_run *run;      /* NULL: nothing is taken */
    struct hpcw_i_dir *state; /* .hpcw */
    int fd;                   /* descriptor of the locked file; -1: no lease */
    bool owned;               /* this process took the lease and removes it */
    /* this run made the dataset's directory, which is `directory` below */
    bool made_directory;
    struct hpcw_i_file_id directory;
    struct hpcw_i_file_id id;  /* id of the lease file */
    char name[GEN_LEASE_NAME]; /* in .hpcw */
};

/* Takes the lease; creates the dataset's directory and its state directory if needed. The run holds both open
 * from then on. A run that is not a part also requires that no part is alive. what: name of the action for
 * people, as "generate". HPCW_EEXIST: the message says who holds the lease, or what else has its name. After a
 * failure nothing is left; gen_lease_end is allowed. */
hpcw_status gen_lease_take(struct gen_run *run, const char *what, struct gen_lease *lease, hpcw_error *err);

/* Returns whether a name in .hpcw is that of a lease or of a part. */
bool gen_lease_is_name(const char *name);

/* Lets other parts of the same dataset start. */
hpcw_status gen_lease_share(struct gen_lease *lease, hpcw_error *err);

/* Collective. Keeps the run alive as long as one of its processes is. Each process locks a byte of process 0's
 * lease and holds the directory open. HPCW_EMISMATCH: a process does not see the lease, since its path is
 * another directory. */
hpcw_status gen_lease_hold(struct gen_lease *lease, struct gen_run *run, hpcw_error *err);

/* HPCW_ESTATE: another run took the lease over. */
hpcw_status gen_lease_check(const struct gen_lease *lease, hpcw_error *err);

/* Gives up the lease and the directory. Removes the directories if they are empty and no other run needs them. */
void gen_lease_end(struct gen_lease *lease);

#endif
