/* SPDX-License-Identifier: BSD-3-Clause */
/* Option values beyond plain numbers and words. Each reader fits ui_option.read. */
#ifndef HPCW_UI_CLI_VALUES_H
#define HPCW_UI_CLI_VALUES_H

#include <stddef.h>
#include <stdint.h>

#include "ui/cli/options.h"

/* The value of an option such as "2/3", the second of three parts: index 1, count 3. "1/1" means all parts. */
struct ui_part {
    uint32_t index, count;
};
ui_option_read ui_read_part;

/* Reads "linktest,sion" or "all" into a uint64_t: bit i stands for the i-th word of option->words, at most 64
 * words. */
ui_option_read ui_read_word_set;

/* Reads one of option->words into a char[param.size]. */
ui_option_read ui_read_word;

/* Reads "linktest.messages=100" and appends it to a struct ui_settings. Configuration files use this reader,
 * too. */
ui_option_read ui_read_setting;

/* Reads "90", "90s", "2m", "1.5h" or "500ms" into a double, seconds, within param.min and param.max. */
ui_option_read ui_read_duration;

/*
 * Sizes: "4K", "4K,64K,1M", "4K:16M:x2" (each twice the previous one), "4K:64K:+4K", or a comma list of those.
 * Each is within param.min and param.max. A last step beyond the end is left out.
 */
enum { UI_SIZES_MAX = 256 };
struct ui_sizes {
    size_t count;
    uint64_t at[UI_SIZES_MAX];
};
ui_option_read ui_read_sizes;

#endif
