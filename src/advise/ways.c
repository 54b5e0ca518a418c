/* SPDX-License-Identifier: Apache-2.0 */
#include "ways.h"

const struct xb_strategy_words xb_strategy_words[XB_STRATEGIES] = {
    [XB_STRATEGY_PAGEABLE] = {"pageable", "pageable", "pageable memory, one step after the other"},
    [XB_STRATEGY_RING] = {"ring", "pageable, by a ring",
                          "pageable memory through a ring of pinned chunks"},
    [XB_STRATEGY_PINNED] = {"pinned", "pinned", "pinned memory, one step after the other"},
    [XB_STRATEGY_OVERLAPPED] = {"overlapped", "pinned, overlapped",
                                "pinned memory, copies and kernels overlapped"},
};

const struct xb_cost_source xb_cost_sources[XB_COSTS] = {
    [XB_COST_PAGEABLE_IN] = {.mode = "pageable",
                             .variants = {"driver", "malloc"},
                             .direction = "h2d"},
    [XB_COST_PAGEABLE_OUT] = {.mode = "pageable",
                              .variants = {"driver", "malloc"},
                              .direction = "d2h"},
    [XB_COST_RING_IN] = {.mode = "pageable", .variants = {"ring"}, .direction = "h2d"},
    [XB_COST_RING_OUT] = {.mode = "pageable", .variants = {"ring"}, .direction = "d2h"},
    [XB_COST_PINNED_IN] = {.mode = "pinned",
                           .variants = {"registered", "alloc"},
                           .direction = "h2d",
                           .is_by_device = true},
    [XB_COST_PINNED_OUT] = {.mode = "pinned",
                            .variants = {"registered", "alloc"},
                            .direction = "d2h",
                            .is_by_device = true},
    [XB_COST_REGISTER] = {.mode = "pin", .variants = {"used"}, .is_setup = true},
    [XB_COST_COPY_IN] = {.mode = "pin", .variants = {"copy"}, .direction = "h2d"},
    [XB_COST_COPY_OUT] = {.mode = "pin", .variants = {"copy"}, .direction = "d2h"},
    [XB_COST_COPY_ROOM] = {.mode = "pin", .variants = {"copy"}, .is_setup = true},
};

const struct xb_cost_source xb_both_ways_source = {
    .mode = "pinned", .variants = {"registered", "alloc"}, .direction = "bidir"};

const char xb_all_rows_options[] =
    "--mode pageable,pinned,pin --pin-by used,copy --direction both,bidir";
const char xb_pinned_rows_options[] = "--mode pinned --direction both,bidir";

const char xb_job_mode[] = "job";

const char *const xb_memory_words[] = {XB_MEMORY_WORD_USUAL, "pinned", NULL};

const char *const xb_copies_words[] = {"--mode", "pageable,pinned", "--direction", "both", NULL};
const char *const xb_both_ways_words[] = {"--mode", "pinned", "--direction", "bidir", NULL};
const char *const xb_pinning_words[] = {"--mode", "pin", "--pin-by", "used,copy", NULL};
