/* SPDX-License-Identifier: BSD-3-Clause */
/* Phases, iterations and their records (doc/formats/vom.md, "Phase"). Checks the order of calls, and that nothing
 * comes twice. */
#include <inttypes.h>

#include "libwriter/base/status.h"
#include "libwriter/format/vom/check.h"
#include "libwriter/format/vom/handle.h"

hpcw_status hpcw_i_vom_usable(const struct hpcw_vom *v, hpcw_error *err) {
    return v == NULL ? hpcw_i_fail(err, HPCW_EINVAL, "vom: expected an open file, got NULL")
                     : hpcw_i_vom_output_usable(&v->out, err);
}

/* ---- Phases and iterations ------------------------------------------------------------------------------- */

static inline hpcw_status in_phase(const struct hpcw_vom *v, const char *what, hpcw_error *err) {
    if (v != NULL && v->phase.open && v->out.status == HPCW_OK) {
        return HPCW_OK;
    }
    hpcw_status s = hpcw_i_vom_usable(v, err);
    if (s == HPCW_OK && !v->phase.open) {
        s = hpcw_i_fail(err, HPCW_ESTATE, "%s: expected an open phase for %s, got none", v->out.path, what);
    }
    return s;
}

/* Finds the first phase of first .. last that is neither skipped nor identical. Returns false if there is none. */
static bool find_gap(const struct hpcw_vom *v, uint64_t first, uint64_t last, uint64_t *gap) {
    const hpcw_vom_options *o = &v->options;
    size_t i = 0;
    size_t k = 0;
    while (first <= last) {
        while (i < o->skipped_count && o->skipped[i].last < first) {
            i++;
        }
        while (k < o->identical_count && o->identical[k].last < first) {
            k++;
        }
        const hpcw_vom_range *range = i < o->skipped_count && o->skipped[i].first <= first ? &o->skipped[i]
                                      : k < o->identical_count && o->identical[k].first <= first
                                          ? &o->identical[k]
                                          : NULL;
        if (range == NULL) {
            *gap = first;
            return true;
        }
        if (range->last >= last) {
            return false;
        }
        first = range->last + 1;
    }
    return false;
}

static hpcw_status identical_to_nothing(const struct hpcw_vom *v, hpcw_error *err) {
    return hpcw_i_fail(err, HPCW_EINVAL,
                       "%s: expected a phase with data before the identical phase %" PRIu64 ", got none",
                       v->out.path, v->options.identical[0].first);
}

static hpcw_status check_phase(const struct hpcw_vom *v, uint64_t id, hpcw_error *err) {
    const char *path = v->out.path;
    uint64_t next = v->any_phase ? v->phase.id + 1 : 0;
    uint64_t gap = 0;
    if (v->phase.open) {
        return hpcw_i_fail(err, HPCW_ESTATE,
                           "%s: expected the end of phase %" PRIu64 ", got the begin of phase %" PRIu64, path,
                           v->phase.id, id);
    }
    if (v->any_phase && id <= v->phase.id) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: expected a phase above %" PRIu64 ", got %" PRIu64, path,
                           v->phase.id, id);
    }
    if (v->options.phase_count != 0 && id >= v->options.phase_count) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: expected a phase below the count %" PRIu64 ", got %" PRIu64,
                           path, v->options.phase_count, id);
    }
    if (!find_gap(v, id, id, &gap)) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "%s: expected a phase with data, got %" PRIu64
                           ", which is listed as skipped or identical",
                           path, id);
    }
    if (next < id && v->options.spec == NULL && (v->options.allow & HPCW_VOM_ALLOW_GAPS) == 0 &&
        find_gap(v, next, id - 1, &gap)) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "%s: expected phase %" PRIu64 ", or the phases left out listed as skipped or "
                           "identical (or HPCW_VOM_ALLOW_GAPS), got %" PRIu64,
                           path, gap, id);
    }
    if (!v->any_written && hpcw_vom_spec_on(v->options.spec, id) && v->options.identical_count > 0 &&
        v->options.identical[0].first < id) {
        return identical_to_nothing(v, err);
    }
    return HPCW_OK;
}

hpcw_status hpcw_i_vom_check_end(const struct hpcw_vom *v, hpcw_error *err) {
    const hpcw_vom_options *o = &v->options;
    if (!v->any_written && o->identical_count > 0) {
        return identical_to_nothing(v, err);
    }
    bool last = v->any_phase && v->phase.id == UINT64_MAX;
    if (last || o->spec != NULL || (o->allow & HPCW_VOM_ALLOW_GAPS) != 0) {
        return HPCW_OK;
    }
    uint64_t next = v->any_phase ? v->phase.id + 1 : 0;
    uint64_t end = next; /* number of the first phase after all that are written, skipped or identical */
    if (o->skipped_count > 0 && o->skipped[o->skipped_count - 1].last >= end) {
        end = o->skipped[o->skipped_count - 1].last + 1;
    }
    if (o->identical_count > 0 && o->identical[o->identical_count - 1].last >= end) {
        end = o->identical[o->identical_count - 1].last + 1;
    }
    uint64_t gap = 0;
    if (end != next && find_gap(v, next, end - 1, &gap)) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "%s: expected phase %" PRIu64 ", as later ones are listed as skipped or identical "
                           "(or HPCW_VOM_ALLOW_GAPS), got the close",
                           v->out.path, gap);
    }
    if (o->phase_count != 0 && o->phase_count != end) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "%s: expected %" PRIu64
                           " phases, the count (or HPCW_VOM_ALLOW_GAPS), got the close after %" PRIu64,
                           v->out.path, o->phase_count, end);
    }
    return HPCW_OK;
}

static hpcw_status begin_section(struct hpcw_vom *v, struct hpcw_i_vom_section *section, uint64_t id,
                                 hpcw_error *err) {
    *section = (struct hpcw_i_vom_section){.open = true, .id = id};
    if (v->muted) {
        return HPCW_OK;
    }
    hpcw_i_json_begin_object(&v->out.json);
    return hpcw_i_vom_output_status(&v->out, err);
}

hpcw_status hpcw_vom_begin_phase(hpcw_vom *v, uint64_t id, hpcw_error *err) {
    hpcw_status s = hpcw_i_vom_usable(v, err);
    if (s == HPCW_OK) {
        s = check_phase(v, id, err);
    }
    if (s != HPCW_OK) {
        return s;
    }
    v->any_phase = true;
    v->any_iteration = false;
    v->counted = false;
    v->muted = !hpcw_vom_spec_on(v->options.spec, id);
    v->any_written = v->any_written || !v->muted;
    if (v->options.check) {
        hpcw_i_seen_clear(&v->known->ids);
        hpcw_i_seen_clear(&v->known->pairs);
        v->wanted = 0;
    }
    return begin_section(v, &v->phase, id, err);
}

static void close_array(struct hpcw_vom *v, const struct hpcw_i_vom_section *section) {
    if (section->progress != HPCW_I_VOM_NOTHING) {
        hpcw_i_json_end_array(&v->out.json);
    }
}

static void open_array(struct hpcw_vom *v, struct hpcw_i_vom_section *section, enum hpcw_i_vom_progress to) {
    static const char *const keys[] = {
        [HPCW_I_VOM_EDGES] = "communications",
        [HPCW_I_VOM_ITERATIONS] = "lb_iterations",
        [HPCW_I_VOM_TASKS] = "tasks",
        [HPCW_I_VOM_LATE_EDGES] = "communications",
        [HPCW_I_VOM_LATE_ITERATIONS] = "lb_iterations",
    };
    struct hpcw_i_json *j = &v->out.json;
    if (!v->muted) {
        close_array(v, section);
        if (section->progress <= HPCW_I_VOM_EDGES && to > HPCW_I_VOM_EDGES) {
            hpcw_i_json_put_u64(j, "id", section->id);
        }
        hpcw_i_json_key_array(j, keys[to]);
    }
    section->progress = to;
}

static hpcw_status end_section(struct hpcw_vom *v, struct hpcw_i_vom_section *section,
                               const hpcw_vom_value *values, size_t count, hpcw_error *err) {
    if (section->progress < HPCW_I_VOM_TASKS) {
        open_array(v, section, HPCW_I_VOM_TASKS);
    }
    section->open = false;
    if (v->muted) {
        return HPCW_OK;
    }
    close_array(v, section);
    if (count > 0) {
        hpcw_i_vom_put_values(&v->out.json, "user_defined", values, count);
    }
    hpcw_i_json_end_object(&v->out.json);
    return hpcw_i_vom_output_status(&v->out, err);
}

static hpcw_status check_section_values(const struct hpcw_vom *v, const hpcw_vom_value *values, size_t count,
                                        hpcw_error *err) {
    struct hpcw_i_vom_place place = {.path = v->out.path, .options = &v->options};
    return hpcw_i_vom_check_values(&place, HPCW_I_VOM_PHASE_VALUES, values, count, err);
}

hpcw_status hpcw_vom_begin_iteration(hpcw_vom *v, uint64_t id, hpcw_error *err) {
    hpcw_status s = in_phase(v, "an iteration", err);
    if (s != HPCW_OK) {
        return s;
    }
    const bool after_tasks = v->phase.progress >= HPCW_I_VOM_TASKS;
    const bool allowed = (v->options.allow & HPCW_VOM_ALLOW_TASKS_FIRST) != 0;
    const bool split = v->any_iteration && v->phase.progress != HPCW_I_VOM_LATE_ITERATIONS;
    if (v->iteration.open || (after_tasks && (!allowed || split))) {
        return hpcw_i_fail(err, HPCW_ESTATE,
                           "%s: phase %" PRIu64 ": expected %s, got the begin of iteration %" PRIu64,
                           v->out.path, v->phase.id,
                           v->iteration.open ? "the end of an iteration"
                           : allowed         ? "all iterations before the tasks, or all after them"
                                             : "iterations before the tasks (or HPCW_VOM_ALLOW_TASKS_FIRST)",
                           id);
    }
    if (v->any_iteration && id <= v->iteration.id) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "%s: phase %" PRIu64 ": expected an iteration above %" PRIu64 ", got %" PRIu64,
                           v->out.path, v->phase.id, v->iteration.id, id);
    }
    const enum hpcw_i_vom_progress array = after_tasks ? HPCW_I_VOM_LATE_ITERATIONS : HPCW_I_VOM_ITERATIONS;
    if (v->phase.progress != array) {
        open_array(v, &v->phase, array);
    }
    v->any_iteration = true;
    return begin_section(v, &v->iteration, id, err);
}

hpcw_status hpcw_vom_end_iteration(hpcw_vom *v, const hpcw_vom_value *values, size_t count, hpcw_error *err) {
    hpcw_status s = in_phase(v, "the end of an iteration", err);
    if (s == HPCW_OK && !v->iteration.open) {
        s = hpcw_i_fail(err, HPCW_ESTATE, "%s: phase %" PRIu64 ": expected an open iteration to end, got none",
                        v->out.path, v->phase.id);
    }
    if (s == HPCW_OK) {
        s = check_section_values(v, values, count, err);
    }
    return s == HPCW_OK ? end_section(v, &v->iteration, values, count, err) : s;
}

/* Edges come before tasks. So only the end of the phase shows that the recorder of an edge is not a task. */
static hpcw_status check_wanted(struct hpcw_vom *v, hpcw_error *err) {
    if (!v->options.check || v->wanted == 0) {
        return HPCW_OK;
    }
    hpcw_error why;
    hpcw_status s =
        hpcw_i_fail(&why, HPCW_EINVAL,
                    "%s: phase %" PRIu64 ": expected edges whose recording end is a task of rank %" PRIu32
                    ", got some of %" PRIu64 " entities that are not, the lowest is id %" PRIu64,
                    v->out.path, v->phase.id, v->options.rank, v->wanted,
                    hpcw_i_seen_lowest(&v->known->ids, HPCW_I_VOM_WANTED));
    if (err != NULL) {
        *err = why;
    }
    return hpcw_i_vom_output_break(&v->out, s, &why);
}

hpcw_status hpcw_vom_end_phase(hpcw_vom *v, const hpcw_vom_value *values, size_t count, hpcw_error *err) {
    hpcw_status s = in_phase(v, "its end", err);
    if (s != HPCW_OK) {
        return s;
    }
    if (v->iteration.open) {
        return hpcw_i_fail(err, HPCW_ESTATE,
                           "%s: phase %" PRIu64 ": expected the end of iteration %" PRIu64
                           ", got the end of the phase",
                           v->out.path, v->phase.id, v->iteration.id);
    }
    if (count > 0 && (v->options.allow & HPCW_VOM_ALLOW_PHASE_VALUES) == 0) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "%s: phase %" PRIu64
                           ": expected no values of a phase (vt's reader throws on them), got %zu "
                           "without HPCW_VOM_ALLOW_PHASE_VALUES",
                           v->out.path, v->phase.id, count);
    }
    s = check_section_values(v, values, count, err);
    if (s == HPCW_OK) {
        s = check_wanted(v, err);
    }
    return s == HPCW_OK ? end_section(v, &v->phase, values, count, err) : s;
}

/* ---- Records --------------------------------------------------------------------------------------------- */

static struct hpcw_i_vom_section *current(struct hpcw_vom *v) {
    return v->iteration.open ? &v->iteration : &v->phase;
}

static hpcw_status late(const struct hpcw_i_vom_place *place, const char *wanted, hpcw_error *err) {
    return hpcw_i_vom_refuse(place, err, HPCW_ESTATE, "%s", wanted);
}

/* The record is lost, so the file must not be finished, also if the program ignores the failure. */
static hpcw_status no_memory(struct hpcw_vom *v, const struct hpcw_i_vom_place *place, const char *what,
                             hpcw_error *err) {
    hpcw_error why;
    hpcw_status s = hpcw_i_vom_refuse(place, &why, HPCW_ENOMEM, "out of memory for %s", what);
    (void)hpcw_i_vom_output_break(&v->out, s, &why);
    return hpcw_i_fail_as(err, &why);
}

static hpcw_status note_task(struct hpcw_vom *v, const struct hpcw_i_vom_place *place,
                             const hpcw_vom_task *task, hpcw_error *err) {
    uint64_t id = hpcw_i_vom_id_of(&task->entity);
    struct hpcw_i_seen_key key = hpcw_i_seen_number(id);
    unsigned char mark = hpcw_i_seen_get(&v->known->ids, key);
    if (mark == HPCW_I_VOM_TASK) {
        return hpcw_i_vom_refuse(place, err, HPCW_EINVAL, "expected each entity once, got id %" PRIu64 " again",
                                 id);
    }
    if (!hpcw_i_seen_reserve(&v->known->ids, key)) {
        return no_memory(v, place, "its id", err);
    }
    v->wanted -= mark == HPCW_I_VOM_WANTED;
    hpcw_i_seen_put(&v->known->ids, key, HPCW_I_VOM_TASK);
    return HPCW_OK;
}

static hpcw_status check_subphases(const struct hpcw_vom *v, const struct hpcw_i_vom_place *place,
                                   const hpcw_vom_task *task, hpcw_error *err) {
    if (task->entity.migratable && v->counted && task->subphases != v->subphases &&
        (v->options.allow & HPCW_VOM_ALLOW_UNEVEN_SUBPHASES) == 0) {
        return hpcw_i_vom_refuse(place, err, HPCW_EINVAL,
                                 "subphases: expected %" PRIu32
                                 " as in the phase's other migratable tasks, got %" PRIu32,
                                 v->subphases, task->subphases);
    }
    return HPCW_OK;
}

hpcw_status hpcw_vom_task_add(hpcw_vom *v, const hpcw_vom_task *task, hpcw_error *err) {
    hpcw_status s = in_phase(v, "a task", err);
    if (s != HPCW_OK) {
        return s;
    }
    struct hpcw_i_vom_section *section = current(v);
    bool in_iteration = section == &v->iteration;
    struct hpcw_i_vom_place place = {.path = v->out.path,
                                     .options = &v->options,
                                     .what = "task",
                                     .phase = v->phase.id,
                                     .number = section->tasks};
    if (task == NULL) {
        return hpcw_i_vom_refuse(&place, err, HPCW_EINVAL, "expected a task, got NULL");
    }
    if (section->progress == HPCW_I_VOM_LATE_EDGES) {
        return late(&place, "expected an edge or the end, got a task after the edges that follow the tasks",
                    err);
    }
    if (section->progress == HPCW_I_VOM_LATE_ITERATIONS) {
        return late(&place,
                    "expected an iteration or the end, got a task after the iterations that follow the tasks",
                    err);
    }
    s = hpcw_i_vom_check_task(&place, task, err);
    if (s == HPCW_OK && !in_iteration) {
        s = check_subphases(v, &place, task, err);
    }
    if (s == HPCW_OK && !in_iteration && v->options.check) {
        s = note_task(v, &place, task, err);
    }
    if (s != HPCW_OK) {
        return s;
    }
    if (!in_iteration && task->entity.migratable) {
        v->counted = true;
        v->subphases = task->subphases;
    }
    section->tasks++;
    if (section->progress != HPCW_I_VOM_TASKS) {
        open_array(v, section, HPCW_I_VOM_TASKS);
    }
    if (v->muted) {
        return HPCW_OK;
    }
    hpcw_i_vom_put_task(&v->out.json, v->options.rank, task);
    return hpcw_i_vom_output_status(&v->out, err);
}

static uint64_t end_of(const hpcw_vom_edge *edge, enum hpcw_i_vom_end end, const hpcw_vom_entity *entity) {
    return end == HPCW_I_VOM_OBJECT ? hpcw_i_vom_id_of(entity)
           : end == HPCW_I_VOM_NODE ? edge->node
                                    : (uint64_t)edge->shared_id;
}

static hpcw_status note_edge(struct hpcw_vom *v, const struct hpcw_i_vom_place *place,
                             const hpcw_vom_edge *edge, hpcw_error *err) {
    const struct hpcw_i_vom_category *c = &hpcw_i_vom_categories[edge->category];
    uint64_t from = end_of(edge, c->from, &edge->from);
    uint64_t to = end_of(edge, c->to, &edge->to);
    struct hpcw_i_seen_key pair = hpcw_i_seen_hash((uint64_t)edge->category, from, to);
    if (hpcw_i_seen_get(&v->known->pairs, pair) != 0) {
        return hpcw_i_vom_refuse(place, err, HPCW_EINVAL,
                                 "expected each pair once, got the %s from %" PRIu64 " to %" PRIu64 " again",
                                 c->name, from, to);
    }
    const hpcw_vom_entity *recorder =
        (v->options.allow & HPCW_VOM_ALLOW_FOREIGN_EDGES) != 0 ? NULL : hpcw_i_vom_recorder(edge);
    struct hpcw_i_seen_key id = {0};
    unsigned char mark = HPCW_I_VOM_TASK;
    if (recorder != NULL) {
        id = hpcw_i_seen_number(hpcw_i_vom_id_of(recorder));
        mark = hpcw_i_seen_get(&v->known->ids, id);
    }
    if (mark == 0 && v->phase.progress >= HPCW_I_VOM_TASKS) {
        return hpcw_i_vom_refuse(place, err, HPCW_EINVAL,
                                 "expected a %s whose recording end is a task of rank %" PRIu32
                                 ", got one of id %" PRIu64,
                                 c->name, v->options.rank, id.word);
    }
    if (!hpcw_i_seen_reserve(&v->known->pairs, pair) ||
        (mark == 0 && !hpcw_i_seen_reserve(&v->known->ids, id))) {
        return no_memory(v, place, "its ends", err);
    }
    hpcw_i_seen_put(&v->known->pairs, pair, 1);
    if (mark == 0) {
        hpcw_i_seen_put(&v->known->ids, id, HPCW_I_VOM_WANTED);
        v->wanted++;
    }
    return HPCW_OK;
}

/* Checks whether an edge may come now, and finds the array that it belongs to. */
static hpcw_status place_edge(const struct hpcw_vom *v, const struct hpcw_i_vom_section *section,
                              const struct hpcw_i_vom_place *place, enum hpcw_i_vom_progress *array,
                              hpcw_error *err) {
    *array = HPCW_I_VOM_EDGES;
    if (section->progress <= HPCW_I_VOM_EDGES) {
        return HPCW_OK;
    }
    *array = HPCW_I_VOM_LATE_EDGES;
    if (section->progress == HPCW_I_VOM_ITERATIONS) {
        return late(place, "expected a task, an iteration or the end, got an edge after an iteration", err);
    }
    if (section->progress == HPCW_I_VOM_LATE_ITERATIONS) {
        return late(place, "expected an iteration or the end, got an edge after an iteration", err);
    }
    if ((v->options.allow & HPCW_VOM_ALLOW_TASKS_FIRST) == 0) {
        return late(place,
                    "expected all edges before the tasks (or HPCW_VOM_ALLOW_TASKS_FIRST), got one after them",
                    err);
    }
    if (section->edges > 0 && section->progress == HPCW_I_VOM_TASKS) {
        return late(place, "expected a task or the end, got an edge after the tasks, and others before them",
                    err);
    }
    return HPCW_OK;
}

hpcw_status hpcw_vom_edge_add(hpcw_vom *v, const hpcw_vom_edge *edge, hpcw_error *err) {
    hpcw_status s = in_phase(v, "an edge", err);
    if (s != HPCW_OK) {
        return s;
    }
    struct hpcw_i_vom_section *section = current(v);
    struct hpcw_i_vom_place place = {.path = v->out.path,
                                     .options = &v->options,
                                     .what = "edge",
                                     .phase = v->phase.id,
                                     .number = section->edges};
    if (edge == NULL) {
        return hpcw_i_vom_refuse(&place, err, HPCW_EINVAL, "expected an edge, got NULL");
    }
    enum hpcw_i_vom_progress array;
    s = place_edge(v, section, &place, &array, err);
    if (s == HPCW_OK) {
        s = hpcw_i_vom_check_edge(&place, edge, err);
    }
    if (s == HPCW_OK && section == &v->phase && v->options.check) {
        s = note_edge(v, &place, edge, err);
    }
    if (s != HPCW_OK) {
        return s;
    }
    section->edges++;
    if (section->progress != array) {
        open_array(v, section, array);
    }
    if (v->muted) {
        return HPCW_OK;
    }
    hpcw_i_vom_put_edge(&v->out.json, edge);
    return hpcw_i_vom_output_status(&v->out, err);
}
