/* SPDX-License-Identifier: BSD-3-Clause */
#include "bindings/mpe/config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *get(const char *name) {
    const char *value = getenv(name);
    return value == NULL || value[0] == '\0' ? NULL : value;
}

static void refuse(struct mpe_config *c, const char *name, const char *expected, const char *got) {
    if (c->refused[0] == '\0') {
        (void)snprintf(c->refused, sizeof c->refused, "%s: expected %s, got '%.64s'", name, expected, got);
    }
}

static bool read_bool(struct mpe_config *c, const char *name, bool unset) {
    static const char *const word[] = {"true", "TRUE", "yes", "YES", "false", "FALSE", "no", "NO"};
    const char *value = get(name);
    for (size_t i = 0; value != NULL && i < sizeof word / sizeof *word; i++) {
        if (strcmp(value, word[i]) == 0) {
            return i < 4;
        }
    }
    if (value != NULL) {
        refuse(c, name, "true, yes, false or no", value);
    }
    return unset;
}

static uint32_t read_number(struct mpe_config *c, const char *name, uint32_t least, uint32_t most,
                            uint32_t multiple) {
    const char *value = get(name);
    if (value == NULL) {
        return 0;
    }
    char *end;
    errno = 0;
    unsigned long number = strtoul(value, &end, 10);
    if (errno != 0 || *end != '\0' || value[0] < '0' || value[0] > '9' || number < least || number > most ||
        number % multiple != 0) {
        char expected[80];
        (void)snprintf(expected, sizeof expected, "a multiple of %u from %u to %u", multiple, least, most);
        refuse(c, name, expected, value);
        return 0;
    }
    return (uint32_t)number;
}

static void read_path(struct mpe_config *c, const char *name, char path[MPE_PATH]) {
    const char *value = get(name);
    if (value != NULL && snprintf(path, MPE_PATH, "%s", value) >= MPE_PATH - (int)sizeof ".clog2") {
        path[0] = '\0';
        refuse(c, name, "at most 4000 bytes", value);
    }
}

static hpcw_clog2_sync read_sync(struct mpe_config *c) {
    static const struct {
        const char *name;
        hpcw_clog2_sync sync;
    } way[] = {{"DEFAULT", HPCW_CLOG2_SYNC_BEST},
               {"SEQ", HPCW_CLOG2_SYNC_SEQUENTIAL},
               {"BITREE", HPCW_CLOG2_SYNC_TREE},
               {"ALTNGBR", HPCW_CLOG2_SYNC_NEIGHBOURS}};
    const char *value = get("MPE_SYNC_ALGORITHM");
    if (!read_bool(c, "MPE_CLOCKS_SYNC", true)) {
        return HPCW_CLOG2_SYNC_NONE;
    }
    for (size_t i = 0; value != NULL && i < sizeof way / sizeof *way; i++) {
        if (strcmp(value, way[i].name) == 0) {
            return way[i].sync;
        }
    }
    if (value != NULL) {
        refuse(c, "MPE_SYNC_ALGORITHM", "DEFAULT, SEQ, BITREE or ALTNGBR", value);
    }
    return HPCW_CLOG2_SYNC_BEST;
}

void mpe_config_directory(char directory[MPE_PATH]) {
    static const char *const name[] = {"MPE_TMPDIR", "TMPDIR", "TMP", "TEMP"};
    (void)snprintf(directory, MPE_PATH, "/tmp");
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        const char *value = get(name[i]);
        if (value != NULL && strlen(value) < MPE_PATH) {
            (void)snprintf(directory, MPE_PATH, "%s", value);
            return;
        }
    }
}

void mpe_config_read(struct mpe_config *config) {
    memset(config, 0, sizeof *config);
    config->sync = read_sync(config);
    config->rounds = read_number(config, "MPE_SYNC_FREQUENCY", 1, 1000000, 1);
    config->block_size = read_number(config, "CLOG_BLOCK_SIZE", 256, 1u << 30, 8);
    config->same_directory = read_bool(config, "MPE_SAME_TMPDIR", true);
    mpe_config_directory(config->directory);
    read_path(config, "MPE_LOGFILE_PREFIX", config->prefix);
}
