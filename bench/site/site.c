/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints a batch script that runs sweeps. If the environment variable IOR is set, the job also runs the same
 * work by IOR, so that a test of the script tests the lines for IOR, too. */
#include "bench/site/site.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <hpcw/version.h>

#include "bench/report/results.h"
#include "libwriter/base/status.h"
#include "libwriter/io/fsinfo.h"
#include "ui/cli/text.h"

enum kind { AUTO, LUSTRE, GPFS, OTHER };

const char *const bench_site_file_system[] = {"auto", "lustre", "gpfs", "other", NULL};

struct script {
    enum kind kind;
    char name[32]; /* name of the file system */
    uint64_t block, per_rank, tasks;
    uint64_t aligned_to[3]; /* block sizes of containers */
    unsigned sweeps;
    double budget; /* seconds of a sweep */
};

static const char *const stripe_counts = "1 4 all";
/* WRITE: bytes of a write, about 1 MiB. LARGE_TRANSFER: bytes of an IOR transfer that reproduces large plain
 * writes, about 4 MiB. It is five writes, because IOR expects a whole number of transfers. Neither size is a
 * multiple of 4 KiB, so writes and transfers end inside a block. */
enum { LUSTRE_SWEEPS = 3 * 3, WRITE = 818 << 10, LARGE_TRANSFER = 5 * WRITE, TRIES = 1000 };

/* Bytes of a run without --per-rank: four times the default of --least-bytes. At 27 GB/s, such a run takes as
 * long as the default of --least-time. At 160 MB/s, 5 minutes suffice for 11 runs each of sion-aligned,
 * sion-shifted and the plain writes that each is compared with. */
#define RUN_BYTES (UINT64_C(1) << 30)

/* Returns whether `per_rank` bytes fill more than a third of their last block, but not the whole block, for
 * each block size. Then no rank of shared-posix begins at the begin of a block, and the ranks of sion-shifted
 * share blocks. Blocks below 4 KiB divide every transfer, and are not checked. */
static bool ends_inside(const struct script *s, uint64_t per_rank) {
    for (size_t i = 0; i < sizeof s->aligned_to / sizeof s->aligned_to[0]; i++) {
        const uint64_t block = s->aligned_to[i];
        if (block >= 4096 && per_rank % block <= block - bench_layout_shift(BENCH_SION_SHIFTED, block)) {
            return false;
        }
    }
    return true;
}

/* Prints the text in single quotes for a shell. */
static void put_quoted(const char *text) {
    (void)putchar('\'');
    for (; *text != '\0'; text++) {
        (void)(*text == '\'' ? fputs("'\\''", stdout) : putchar(*text));
    }
    (void)putchar('\'');
}

static void put_head(const struct bench_options *o, const struct script *s, const char *directory) {
    /* Time limit of the job. Each sweep, and the metadata rates, take the budget. IOR takes as long again. 15
     * minutes are for everything else. */
    const unsigned minutes = 15 + (unsigned)ceil(2 * (s->sweeps + 1) * s->budget / 60);
    (void)printf("#!/bin/bash\n"
                 "# Measures %s with hpcw-bench on %u nodes. Written by hpcw-bench %s.\n"
                 "#\n",
                 s->name, o->site.nodes, hpcw_version());
    if (s->kind == LUSTRE || s->kind == GPFS) {
        (void)printf(
            "# NOT RUN ON SUCH A MACHINE: hpcw was tested on imitations of Lustre and GPFS only. Read this "
            "script before you submit it.\n"
            "#\n");
    }
    (void)printf(
        "# sbatch THIS-SCRIPT; then hpcw-bench-JOB has a directory for each sweep, with report.html and "
        "results.json.\n"
        "# To run the same work by IOR after each sweep: IOR=/path/to/ior sbatch THIS-SCRIPT\n"
        "# To start the processes by another launcher, with its options: LAUNCHER='mpirun --bind-to core' "
        "sbatch "
        "THIS-SCRIPT\n"
        "# To add parallel HDF5, if hpcw-bench and IOR are built with it: HDF5=yes sbatch THIS-SCRIPT\n"
        "#SBATCH --job-name=hpcw-bench\n"
        "#SBATCH --nodes=%u\n"
        "#SBATCH --ntasks-per-node=%u\n"
        "#SBATCH --exclusive\n"
        "#SBATCH --time=%02u:%02u:00\n"
        "# Many sites also expect an account and a partition:\n"
        "##SBATCH --account=\n"
        "##SBATCH --partition=\n"
        "\n"
        "# What starts the processes of a job: srun, where MPI is built for it. For Open MPI of Debian: "
        "mpirun\n"
        "read -ra launcher <<<\"${LAUNCHER-srun}\"\n"
        "dir=",
        o->site.nodes, o->site.tasks_per_node, minutes / 60, minutes % 60);
    put_quoted(directory);
    (void)printf(
        "\nout=hpcw-bench-$SLURM_JOB_ID\n"
        "bench=${HPCW_BENCH-hpcw-bench}\n"
        "ior=${IOR-}\n"
        "hdf5=${HDF5-}\n"
        "layouts=sion-aligned,sion-shifted,task-local,shared-posix,mpiio-independent,mpiio-collective\n"
        "layouts=$layouts${hdf5:+,hdf5-independent,hdf5-collective}\n"
        "failed=0\n"
        "mkdir \"$out\" || exit\n");
}

static void put_functions(const struct bench_options *o, const struct script *s) {
    char each[UI_TEXT_SIZE], all[UI_TEXT_SIZE];
    char write[UI_TEXT_SIZE], transfer[UI_TEXT_SIZE];
    (void)ui_text_size(each, s->per_rank);
    (void)ui_text_size(write, WRITE);
    (void)ui_text_size(transfer, LARGE_TRANSFER);
    /* The space of a run includes the last blocks of each task. On Lustre a block of the file system is a
     * stripe. */
    uint64_t largest = 0;
    for (size_t i = 0; i < sizeof s->aligned_to / sizeof s->aligned_to[0]; i++) {
        largest = s->aligned_to[i] > largest ? s->aligned_to[i] : largest;
    }
    (void)ui_text_size(all, 2 * (s->per_rank + 2 * largest) * s->tasks);
    (void)printf(
        "\n"
        "# sweep NAME OPTION...: every task writes %s in writes of %s, and fsync ends a run. As in real data,\n"
        "# no task ends where a block begins, for each block size that is measured.\n"
        "sweep() {\n"
        "    \"${launcher[@]}\" \"$bench\" sweep \"$dir\" --out \"$out/$1\" --quiet --ranks %" PRIu64
        " --per-rank %s --record %s --files 1 \\\n"
        "        --mode fsync --max-bytes %s --budget %.15gs \\\n"
        "        --layout \"$layouts\" \"${@:2}\" || failed=1\n"
        "}\n"
        "\n"
        "# peers COMMAND...: the points of a sweep by IOR, in a new directory that COMMAND prepares. IOR has "
        "no "
        "containers: what\n"
        "# sion-aligned can reach is its ceiling, which IOR reproduces with transfers of %s.\n"
        "peers() {\n"
        "    [ -n \"$ior\" ] || return 0\n"
        "    there=$dir/ior.$SLURM_JOB_ID\n"
        "    # not in a directory of somebody else, as it is removed in the end\n"
        "    mkdir \"$there\" || { failed=1; return; }\n"
        "    \"$@\" \"$there\" || failed=1\n"
        "    # task-local/fsync/records-%s; without MPI on one node:\n"
        "    # fio --name=task-local --directory=\"$there\" --rw=write --bs=%s --size=%s --numjobs=%u "
        "--ioengine=psync \\\n"
        "    #     --fallocate=none --end_fsync=1 --group_reporting\n"
        "    \"${launcher[@]}\" \"$ior\" -a POSIX -F -w -e -t %s -b %s -i 5 -o \"$there/data\" || failed=1\n"
        "    # shared-posix/fsync/records-%s\n"
        "    \"${launcher[@]}\" \"$ior\" -a POSIX -w -e -t %s -b %s -i 5 -o \"$there/data\" || failed=1\n"
        "    # mpiio-independent/fsync/records-%s\n"
        "    \"${launcher[@]}\" \"$ior\" -a MPIIO -w -e -t %s -b %s -i 5 -o \"$there/data\" || failed=1\n"
        "    # mpiio-collective/fsync/records-%s\n"
        "    \"${launcher[@]}\" \"$ior\" -a MPIIO -c -w -e -t %s -b %s -i 5 -o \"$there/data\" || failed=1\n"
        "    if [ -n \"$hdf5\" ]; then\n"
        "        # hdf5-independent/fsync/records-%s\n"
        "        \"${launcher[@]}\" \"$ior\" -a HDF5 --hdf5.setAlignment=16m --hdf5.noFill -w -e -t %s -b %s "
        "-i 5 -o "
        "\"$there/data\" || failed=1\n"
        "        # hdf5-collective/fsync/records-%s\n"
        "        \"${launcher[@]}\" \"$ior\" -a HDF5 --hdf5.setAlignment=16m --hdf5.noFill -c -w -e -t %s -b "
        "%s -i 5 -o "
        "\"$there/data\" || failed=1\n"
        "    fi\n"
        "    # the ceiling of sion-aligned/fsync\n"
        "    \"${launcher[@]}\" \"$ior\" -a POSIX -w -e -t %s -b %s -i 5 -o \"$there/data\" || failed=1\n"
        "    rm -rf \"$there\"\n"
        "}\n",
        each, write, s->tasks, each, write, all, s->budget, transfer, write, write, each,
        o->site.tasks_per_node, write, each, write, write, each, write, write, each, write, write, each, write,
        write, each, write, write, each, transfer, each);
}

static void put_points(const struct script *s) {
    char block[4][UI_TEXT_SIZE];
    for (size_t i = 0; i < 3; i++) {
        (void)ui_text_size(block[i], s->aligned_to[i]);
    }
    (void)ui_text_size(block[3], s->block);
    if (s->kind == LUSTRE) {
        (void)printf(
            "\n"
            "# Stripes of each file: their number and size. Containers are aligned to the size. To measure "
            "other\n"
            "# stripes, edit the two lists. Larger stripes need a larger --max-bytes.\n"
            "for count in %s; do\n"
            "    for size in %s %s %s; do\n"
            "        sweep \"stripes-$count-$size\" --stripe-count \"${count/all/65535}\" --stripe-size "
            "\"$size\" --blocksize \"$size\"\n"
            "        peers lfs setstripe -c \"${count/all/-1}\" -S \"$size\"\n"
            "    done\n"
            "done\n",
            stripe_counts, block[0], block[1], block[2]);
    } else if (s->kind == GPFS) {
        (void)printf("\n"
                     "# Containers aligned to a quarter of a file system block, to a block and to two. Below a "
                     "block, hosts share blocks.\n"
                     "sweep blocks --fs-block %s --blocksize %s,%s,%s\n"
                     "peers true\n",
                     block[3], block[0], block[1], block[2]);
    } else {
        (void)printf("\n"
                     "# Containers aligned to a block of the file system, and to larger ones.\n"
                     "sweep blocks --blocksize %s,%s,%s\n"
                     "peers true\n",
                     block[0], block[1], block[2]);
    }
    (void)printf("\n"
                 "# Metadata rates, and the same number of files by mdtest, which is built with IOR.\n"
                 "\"${launcher[@]}\" \"$bench\" metadata \"$dir\" --out \"$out/metadata\" --quiet --budget "
                 "%.15gs --tasks %" PRIu64 ",%" PRIu64 " || failed=1\n"
                 "if [ -n \"$ior\" ] && mkdir \"$dir/mdtest.$SLURM_JOB_ID\"; then\n"
                 "    \"${launcher[@]}\" \"${ior%%ior}mdtest\" -F -n 64 -N 1 -i 5 -d "
                 "\"$dir/mdtest.$SLURM_JOB_ID\" || failed=1\n"
                 "    rm -rf \"$dir/mdtest.$SLURM_JOB_ID\"\n"
                 "elif [ -n \"$ior\" ]; then\n"
                 "    failed=1\n"
                 "fi\n"
                 "exit $failed\n",
                 s->budget, s->tasks, 64 * s->tasks);
}

hpcw_status bench_site(const struct bench_options *o, const char *directory, hpcw_error *err) {
    struct hpcw_i_fsinfo found = {.type = "a file system"};
    struct script s = {.kind = (enum kind)o->site.file_system,
                       .per_rank = o->per_rank,
                       .tasks = (uint64_t)o->site.nodes * o->site.tasks_per_node,
                       .budget = o->budget};
    if (directory[0] != '/' || strchr(directory, '\n') != NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: expected an absolute path, which all nodes see", directory);
    }
    hpcw_status r = s.kind == AUTO ? hpcw_i_fsinfo_look(NULL, directory, 0, &found, err) : HPCW_OK;
    if (r != HPCW_OK) {
        hpcw_error found_err = *err;
        return hpcw_i_fail(err, r, "%s; where it is not mounted, use --file-system", found_err.message);
    }
    s.kind = s.kind != AUTO ? s.kind : found.gpfs ? GPFS : strcmp(found.type, "lustre") == 0 ? LUSTRE : OTHER;
    (void)snprintf(s.name, sizeof s.name, "%s",
                   s.kind == LUSTRE ? "Lustre"
                   : s.kind == GPFS ? "GPFS"
                                    : found.type);
    s.block = o->fs_block != 0         ? o->fs_block
              : found.block_bytes != 0 ? found.block_bytes
              : s.kind == GPFS         ? UINT64_C(16) << 20
                                       : 4096;
    const uint64_t sizes[][3] = {[LUSTRE] = {1 << 20, 4 << 20, 16 << 20},
                                 [GPFS] = {s.block > 4 ? s.block / 4 : 1, s.block, 2 * s.block},
                                 [OTHER] = {s.block, 64 << 10, 1 << 20}};
    memcpy(s.aligned_to, sizes[s.kind], sizeof s.aligned_to);
    /* Round up to whole transfers, which IOR expects. */
    const uint64_t least = s.per_rank != 0 ? s.per_rank : RUN_BYTES / s.tasks;
    s.per_rank = (least + LARGE_TRANSFER - 1) / LARGE_TRANSFER * LARGE_TRANSFER;
    for (int i = 0; !ends_inside(&s, s.per_rank); i++) {
        if (i == TRIES) {
            return hpcw_i_fail(err, HPCW_EINVAL,
                               "--fs-block: expected a power of two, as that of the file system, got %" PRIu64,
                               s.block);
        }
        s.per_rank += LARGE_TRANSFER;
    }
    s.sweeps = s.kind == LUSTRE ? LUSTRE_SWEEPS : 1;
    put_head(o, &s, directory);
    put_functions(o, &s);
    put_points(&s);
    return HPCW_OK;
}
