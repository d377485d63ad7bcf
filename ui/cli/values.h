/* SPDX-License-Identifier: BSD-3-Clause */
/* F5: option values beyond plain numbers and words. Each reader fits hpcw_i_option.read. */
#ifndef HPCW_UI_CLI_VALUES_H
#define HPCW_UI_CLI_VALUES_H

#include <stddef.h>
#include <stdint.h>

#include "ui/cli/options.h"

/* "2/3": the second of three. Stored from 0, so that part.index < part.count; "1/1" is all of it. */
struct hpcw_i_part {
    uint32_t index, count;
};
hpcw_i_option_read hpcw_i_read_part;

/* "linktest,sion" or "all" into a uint64_t: bit i stands for the i-th word of option->words, at most 64 words.
 */
hpcw_i_option_read hpcw_i_read_word_set;

/* One of option->words into a char[param.size]. */
hpcw_i_option_read hpcw_i_read_word;

/* "linktest.messages=100", appended to a struct hpcw_i_settings. The row that configuration files feed, too. */
hpcw_i_option_read hpcw_i_read_setting;

/* "90", "90s", "2m", "1.5h", "500ms" into a double, seconds, within param.min and param.max. */
hpcw_i_option_read hpcw_i_read_duration;

/*
 * Sizes, ascending or as listed: "4K", "4K,64K,1M", "4K:16M:x2" (each twice the one before), "4K:64K:+4K", or
 * a comma list of those. A last step that would pass the end is left out. Each within param.min and param.max.
 */
enum { HPCW_I_SIZES_MAX = 256 };
struct hpcw_i_sizes {
    size_t count;
    uint64_t at[HPCW_I_SIZES_MAX];
};
hpcw_i_option_read hpcw_i_read_sizes;

#endif
