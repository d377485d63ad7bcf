/* SPDX-License-Identifier: BSD-3-Clause */
#include "libreader/vom/vom.h"

#include <inttypes.h>
#include <stdio.h>

#include "libreader/vom/private.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

/* Bytes that vt decompresses at a time. vt loses the last byte of a text if this byte is alone in the last of these
 * pieces. */
#define VT_PIECE 65536u

/* The key of the phases in the outermost object. */
#define PHASES "phases"

/* Makes a parser for the rest of the text. */
static hpcw_status new_parser(struct read_vom *r, hpcw_error *err) {
    struct read_vom_consumer consumer = read_vom_data_consumer;
    consumer.context = r;
    consumer.whole = r->parsed ? NULL : consumer.whole;
    const unsigned flags = (r->strict ? READ_VOM_JSON_ORDERED : 0u) | (r->lenient ? READ_VOM_JSON_LENIENT : 0u);
    return read_vom_json_new(r->name, r->text, &read_vom_data_schema, flags, &consumer, &r->json, err);
}

hpcw_status read_vom_open_source(struct read_source *source, uint32_t rank, unsigned flags,
                                 struct read_vom **out, hpcw_error *err) {
    *out = NULL;
    struct read_vom *r = hpcw_i_calloc(1, sizeof *r);
    if (r == NULL) {
        hpcw_status status = hpcw_i_fail_memory(err, read_source_name(source), 0, NULL);
        read_source_free(source);
        return status;
    }
    r->source = source;
    r->name = read_source_name(source);
    r->here.rank = rank;
    r->strict = (flags & READ_VOM_STRICT) != 0;
    r->parsed = (flags & READ_VOM_PARSED) != 0;
    r->lenient = (flags & READ_VOM_LENIENT) != 0;
    hpcw_status status = read_vom_text_new(source, &r->text, err);
    if (status == HPCW_OK) {
        status = new_parser(r, err);
    }
    if (status != HPCW_OK) {
        read_vom_free(r);
        r = NULL;
    }
    *out = r;
    return status;
}

hpcw_status read_vom_open(const char *path, uint32_t rank, unsigned flags, struct read_vom **out,
                          hpcw_error *err) {
    *out = NULL;
    struct read_source *source;
    hpcw_status status = read_source_open(path, &source, err);
    return status != HPCW_OK ? status : read_vom_open_source(source, rank, flags, out, err);
}

hpcw_status read_vom_open_memory(const char *name, const void *data, size_t size, uint32_t rank, unsigned flags,
                                 struct read_vom **out, hpcw_error *err) {
    *out = NULL;
    struct read_source *source;
    hpcw_status status = read_source_open_memory(name, data, size, &source, err);
    return status != HPCW_OK ? status : read_vom_open_source(source, rank, flags, out, err);
}

void read_vom_free(struct read_vom *reader) {
    if (reader != NULL) {
        read_vom_records_free(&reader->records);
        read_vom_json_free(reader->json);
        read_vom_text_free(reader->text);
        read_source_free(reader->source);
        hpcw_i_free(reader);
    }
}

void read_vom_warn(const struct read_vom *reader, hpcw_error *warning) {
    const char *why = reader->first_mended.message;
    if (reader->mended == 0 || warning->code != HPCW_OK) {
        return;
    }
    if (reader->mended == 1) {
        (void)hpcw_i_fail(warning, HPCW_EFORMAT, "%s; taken as it is", why);
    } else {
        (void)hpcw_i_fail(warning, HPCW_EFORMAT, "%s; taken as it is, like %" PRIu64 " other records", why,
                          reader->mended - 1);
    }
}

/* Checks the rules of the whole file: doc/formats/vom.md#vom-6, vom-7 and vom-8. */
static hpcw_status whole_file(struct read_vom *r, hpcw_error *err) {
    uint64_t size = read_vom_text_offset(r->text);
    if (!r->here.typed && r->lenient) {
        char why[1024];
        (void)snprintf(why, sizeof why,
                       "%s: expected the type \"LBDatafile\" in metadata or at the top, got a file without it",
                       r->name);
        read_vom_mended(r, why);
    } else if (!r->here.typed) {
        return hpcw_i_fail(
            err, HPCW_EFORMAT,
            "%s: expected the type \"LBDatafile\" in metadata or at the top, got a file without it", r->name);
    }
    if (r->strict && !r->here.has_metadata) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: expected the key \"metadata\", got an old-form file without it", r->name);
    }
    if (r->strict && read_vom_text_compressed(r->text) && size % VT_PIECE == 1) {
        return hpcw_i_fail(
            err, HPCW_EFORMAT,
            "%s: expected an inflated size that is not 1 more than a multiple of %u, because vt loses "
            "the last byte then, got %" PRIu64,
            r->name, VT_PIECE, size);
    }
    return HPCW_OK;
}

hpcw_status read_vom_run(struct read_vom *reader, uint64_t phases, const struct read_vom_events *events,
                         hpcw_error *err) {
    struct read_vom *r = reader;
    if (r->broken != HPCW_OK) {
        return hpcw_i_fail(err, HPCW_ESTATE, "%s: reading it failed before", r->name);
    }
    if (r->here.ended) {
        return HPCW_OK;
    }
    /* A parser that was stopped cannot continue, so the next run needs a new parser. */
    if (read_vom_json_stopped_at(r->json) > 0) {
        struct read_vom_position stop;
        read_vom_position(r, &stop);
        r->broken = read_vom_resume(r, &stop, err);
        if (r->broken != HPCW_OK) {
            return r->broken;
        }
    }
    r->events = events;
    r->until = phases > UINT64_MAX - r->here.phases ? UINT64_MAX : r->here.phases + phases;
    hpcw_status status = read_vom_json_run(r->json, err);
    if (status == HPCW_OK && read_vom_json_ended(r->json)) {
        r->here.ended = true;
        status = whole_file(r, err);
    }
    r->broken = status;
    return status;
}

void read_vom_facts(const struct read_vom *reader, struct read_vom_facts *facts) {
    *facts = (struct read_vom_facts){
        .ended = reader->here.ended,
        .compressed = reader->text != NULL && read_vom_text_compressed(reader->text),
        .old_form = reader->here.ended && !reader->here.has_metadata,
        .file_size = read_source_size(reader->source),
        .text_size = reader->text != NULL ? read_vom_text_offset(reader->text) : 0,
        .phases = reader->here.phases,
        .rank = reader->here.rank,
        .mended = reader->mended,
    };
}

void read_vom_position(const struct read_vom *reader, struct read_vom_position *position) {
    *position = reader->here;
    if (reader->json != NULL) {
        position->offset = read_vom_json_stopped_at(reader->json);
        position->seen = read_vom_json_seen(reader->json);
    }
}

hpcw_status read_vom_resume(struct read_vom *reader, const struct read_vom_position *position,
                            hpcw_error *err) {
    struct read_vom *r = reader;
    r->here.ended = position->ended;
    if (position->ended || position->offset == 0) {
        return HPCW_OK;
    }
    read_vom_text_free(r->text);
    read_vom_json_free(r->json);
    r->json = NULL;
    hpcw_status status = read_vom_text_new(r->source, &r->text, err);
    if (status == HPCW_OK) {
        status = read_vom_text_skip(r->text, position->offset, err);
    }
    if (status == HPCW_OK) {
        status = new_parser(r, err);
    }
    if (status == HPCW_OK) {
        status = read_vom_json_resume(r->json, PHASES, position->phases, position->seen, err);
    }
    r->here = *position;
    r->broken = status;
    return status;
}
