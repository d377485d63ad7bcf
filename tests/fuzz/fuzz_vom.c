/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls all functions of the VOM reader with arbitrary bytes. */
#include <string.h>

#include "libreader/vom/public.h"
#include "libreader/vom/rules/judge.h"
#include "libreader/vom/set/verify.h"
#include "libreader/vom/statistics.h"
#include "libreader/vom/vom.h"
#include "tests/fuzz/images.h"

/* Updates a digest of everything that is read, including its order. */
static void stir(uint64_t *digest, const void *data, size_t size) {
    const unsigned char *p = data;
    for (size_t i = 0; i < size; i++) {
        *digest = (*digest ^ p[i]) * UINT64_C(0x100000001b3);
    }
}

static void stir_number(uint64_t *digest, uint64_t number) {
    stir(digest, &number, sizeof number);
}

static void stir_members(uint64_t *digest, const struct read_vom_members *m) {
    stir_number(digest, m->count);
    for (size_t i = 0; i < m->count; i++) {
        stir(digest, m->item[i].key, m->item[i].key_size + 1);
        stir(digest, m->item[i].text, m->item[i].text_size + 1);
        stir(digest, &m->item[i].number, sizeof m->item[i].number);
        demand(m->item[i].key[m->item[i].key_size] == '\0' && m->item[i].text[m->item[i].text_size] == '\0');
    }
}

static void stir_entity(uint64_t *digest, const struct read_vom_entity *e) {
    stir_number(digest, e->has_id ? e->id : e->seq_id);
    demand(e->dimensions <= READ_VOM_MOST_INDEX);
    stir(digest, e->index, e->dimensions * sizeof e->index[0]);
    demand(e->kind != READ_VOM_OBJECT || e->home < READ_VOM_MOST_RANKS);
}

static hpcw_status metadata(void *context, const struct read_vom_metadata *m, hpcw_error *err) {
    (void)err;
    stir_number(context, m->rank);
    stir_members(context, &m->attributes);
    return HPCW_OK;
}

static hpcw_status task(void *context, const struct read_vom_task *t, hpcw_error *err) {
    (void)err;
    stir_number(context, t->number);
    stir_entity(context, &t->entity);
    stir(context, t->resource, strlen(t->resource));
    stir(context, &t->time, sizeof t->time);
    stir(context, t->subphase_time, t->subphases * sizeof t->subphase_time[0]);
    stir_members(context, &t->attributes);
    stir_members(context, &t->user_defined);
    demand(t->time >= 0 && t->subphases <= READ_VOM_MOST_SUBPHASES);
    return HPCW_OK;
}

static hpcw_status communication(void *context, const struct read_vom_communication *c, hpcw_error *err) {
    (void)err;
    stir_number(context, c->number);
    stir_entity(context, &c->from);
    stir_entity(context, &c->to);
    stir(context, &c->bytes, sizeof c->bytes);
    demand(read_vom_category_name(c->category) != NULL && c->bytes >= 0);
    return HPCW_OK;
}

static hpcw_status phase_end(void *context, const struct read_vom_phase *p, hpcw_error *err) {
    (void)err;
    stir_number(context, p->id);
    stir_members(context, &p->user_defined);
    return HPCW_OK;
}

static hpcw_status iteration_begin(void *context, uint64_t number, hpcw_error *err) {
    (void)err;
    stir_number(context, number);
    return HPCW_OK;
}

static struct read_vom_events events_into(uint64_t *digest) {
    return (struct read_vom_events){.context = digest,
                                    .metadata = metadata,
                                    .task = task,
                                    .communication = communication,
                                    .phase_end = phase_end,
                                    .iteration_begin = iteration_begin,
                                    .iteration_end = phase_end};
}

/* Reads the file at once, and phase by phase with a new handle each. Both must give the same. */
static hpcw_status read_both_ways(const void *data, size_t size, unsigned flags) {
    uint64_t digest[2] = {0};
    hpcw_error err[2];
    hpcw_status status[2];
    struct read_vom *reader;
    struct read_vom_events events = events_into(&digest[0]);
    status[0] = read_vom_open_memory("m", data, size, READ_VOM_ANY_RANK, flags, &reader, &err[0]);
    if (status[0] != HPCW_OK) {
        return status[0];
    }
    status[0] = read_vom_run(reader, UINT64_MAX, &events, &err[0]);
    read_vom_free(reader);

    struct read_vom_position place = {0};
    events = events_into(&digest[1]);
    for (bool first = true; !place.ended; first = false) {
        demand(read_vom_open_memory("m", data, size, READ_VOM_ANY_RANK, flags, &reader, &err[1]) == HPCW_OK);
        status[1] = first ? HPCW_OK : read_vom_resume(reader, &place, &err[1]);
        if (status[1] == HPCW_OK) {
            status[1] = read_vom_run(reader, 1, &events, &err[1]);
        }
        read_vom_position(reader, &place);
        read_vom_free(reader);
        if (status[1] != HPCW_OK) {
            break;
        }
    }
    demand(status[0] == status[1] && digest[0] == digest[1]);
    return status[0];
}

/* ---- <hpcw/vom_read.h> ---- */

static void stir_values(uint64_t *digest, const hpcw_vom_value *v, size_t count) {
    for (size_t i = 0; i < count; i++) {
        demand(v[i].key != NULL &&
               (v[i].text != NULL) == (v[i].type == HPCW_VOM_TEXT || v[i].type == HPCW_VOM_JSON));
        stir(digest, v[i].key, strlen(v[i].key) + 1);
        stir_number(digest, (uint64_t)v[i].integer);
        stir(digest, &v[i].number, sizeof v[i].number);
        stir(digest, v[i].text, v[i].text != NULL ? strlen(v[i].text) : 0);
    }
}

static hpcw_status public_metadata(void *context, const hpcw_vom_metadata *m) {
    stir_values(context, m->attributes, m->attribute_count);
    for (size_t i = 1; i < m->skipped_count; i++) {
        demand(m->skipped[i - 1].first <= m->skipped[i].first);
    }
    return HPCW_OK;
}

static hpcw_status public_begin(void *context, uint64_t number) {
    stir_number(context, number);
    return HPCW_OK;
}

static hpcw_status public_edge(void *context, const hpcw_vom_edge *e) {
    stir_number(context, (uint64_t)e->category);
    stir_number(context, e->from.id + e->to.id + e->node);
    demand(e->bytes >= 0 && e->node < HPCW_VOM_MAX_RANKS && e->shared_id >= 0);
    return HPCW_OK;
}

static hpcw_status public_task(void *context, const hpcw_vom_task *t) {
    stir(context, t->entity.index, t->entity.dimensions * sizeof t->entity.index[0]);
    stir(context, t->subphase_s, t->subphases * sizeof t->subphase_s[0]);
    stir(context, t->resource, strlen(t->resource));
    stir_values(context, t->attributes, t->attribute_count);
    stir_values(context, t->values, t->value_count);
    return HPCW_OK;
}

static hpcw_status public_end(void *context, const hpcw_vom_section *s) {
    stir_number(context, s->id);
    stir_values(context, s->values, s->value_count);
    return HPCW_OK;
}

/* Reads the file at once, and phase by phase. Both must give the same. */
static void read_publicly(const void *data, size_t size) {
    uint64_t digest[2] = {0};
    hpcw_status status[2] = {HPCW_OK, HPCW_OK};
    for (int steps = 0; steps < 2; steps++) {
        struct read_source *source;
        hpcw_vom_reader *reader;
        hpcw_error err;
        const hpcw_vom_watch watch = {&digest[steps], public_metadata, public_begin, public_edge,
                                      public_task,    public_end,      public_begin, public_end};
        if (read_source_open_memory("m", data, size, &source, &err) != HPCW_OK ||
            read_vom_publish(source, READ_VOM_ANY_RANK, 0, &reader, &err) != HPCW_OK) {
            return;
        }
        const hpcw_vom_info *info = hpcw_vom_reader_info(reader);
        while (status[steps] == HPCW_OK && !info->ended) {
            status[steps] = hpcw_vom_reader_watch(reader, steps == 0 ? UINT64_MAX : 1, &watch, &err);
        }
        demand(status[steps] == HPCW_OK ||
               hpcw_vom_reader_watch(reader, UINT64_MAX, &watch, &err) == HPCW_ESTATE);
        hpcw_vom_reader_free(reader);
    }
    demand(status[0] == status[1] && digest[0] == digest[1]);
}

/* ---- sets ---- */

static const char *no_name(void *context, uint32_t rank) {
    (void)context;
    (void)rank;
    return "m";
}

/* Reads the files as ranks of a set, up to eight phases. */
static hpcw_status judge_set(const struct read_sion_image *images, uint32_t count, bool strict) {
    struct read_vom_judge judge;
    hpcw_error err;
    hpcw_status status = read_vom_judge_init(&judge, strict, count, true, &err);
    demand(status == HPCW_OK && read_vom_judge_open(&judge, 0, 8, &err) == HPCW_OK);
    for (uint32_t r = 0; r < count && status == HPCW_OK; r++) {
        struct read_vom *reader;
        status = read_vom_open_memory("m", images[r].data, images[r].size, r, strict ? READ_VOM_STRICT : 0,
                                      &reader, &err);
        if (status == HPCW_OK) {
            read_vom_judge_file(&judge, reader, r);
            status = read_vom_run(reader, 8, &judge.events, &err);
            read_vom_free(reader);
        }
    }
    for (size_t p = 0; p < judge.phases && p < 8 && status == HPCW_OK; p++) {
        status = read_vom_judge_phase(&judge, p, no_name, NULL, &err);
    }
    if (status == HPCW_OK) {
        status = read_vom_judge_end(&judge, "m", &err);
    }
    demand(status == HPCW_OK || (err.code == status && err.message[0] != '\0'));
    read_vom_judge_free(&judge);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct read_sion_image images[FUZZ_IMAGES];
    uint32_t count = fuzz_split(data, size, images);
    for (uint32_t i = 0; i < count; i++) {
        const struct read_vom_statistics_events none = {0};
        hpcw_error err;
        hpcw_status loose = read_vom_verify_memory("m", images[i].data, images[i].size, 0, &err);
        demand(loose == HPCW_OK || (err.code == loose && err.message[0] != '\0'));
        hpcw_status strict = read_vom_verify_memory("m", images[i].data, images[i].size, READ_VOM_STRICT, &err);
        demand(strict != HPCW_OK || loose == HPCW_OK);
        /* With READ_VOM_LENIENT, the reader accepts everything that it accepts without this flag. */
        const hpcw_status usual = read_both_ways(images[i].data, images[i].size, 0);
        demand(read_both_ways(images[i].data, images[i].size, READ_VOM_LENIENT) == HPCW_OK || usual != HPCW_OK);
        read_publicly(images[i].data, images[i].size);
        struct read_source *source;
        if (read_source_open_memory("m", images[i].data, images[i].size, &source, &err) == HPCW_OK) {
            (void)read_vom_statistics_source(source, &none, &err);
            read_source_free(source);
        }
    }
    if (count > 0) {
        hpcw_status loose = judge_set(images, count, false);
        hpcw_status strict = judge_set(images, count, true);
        demand(strict != HPCW_OK || loose == HPCW_OK);
    }
    return 0;
}
