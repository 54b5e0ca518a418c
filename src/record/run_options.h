/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/options.h"

/* What a command line of `run` asks for: its own options, by the rows of src/run/request.c. */
struct xb_run_options {
    /* They were read from this, with the modes' own rows; for xb_config_get. Owns their texts. */
    const struct xb_config *config;
    struct xb_word_list mode, direction, device, numa, transfer;
    const char *direction_text; /* as it was written */
    struct xb_numbers size;
    bool device_given, size_given;
    bool latency, simultaneous, dry_run, timeline, quiet;
    double time_limit, warm_up, deadline; /* no deadline: 0 */
    uint64_t samples;                     /* 0: as many as it takes */
    uint64_t processes;
    const char *backend;
    /* NULL: not wanted */
    const char *transfers, *start_at, *interleave, *json, *json_lines, *baseline_json, *csv, *trace;
};
