/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "document.h"
#include "fleet/judgement.h"
#include "page.h"

/*
 * The page is made of sections. Each writes what it has to say with the functions of page.h; one
 * that writes nothing is not in the page. What fails is in page->error, and ends the report.
 */

/* What is said of one file below its heading. */
struct xb_section {
    /* Lower case letters and dashes; it is part of the ids of its pictures, and of their files'
     * names. */
    const char *name;
    const char *title; /* its heading */
    /* What the page says of a document of any kind, below the heading. */
    void (*write)(struct xb_page *page, const struct xb_report_document *document);
};

/* What is said of several files together, such as a trend. Every file goes by once; it is gone
 * afterwards, so that memory is needed only for what take() keeps. */
struct xb_common_section {
    const char *name, *title;
    bool comes_first;  /* it is the answer, before what each file says */
    size_t state_size; /* of a state, which is zeros before the first file */
    /* XB_ERR_MEMORY only. */
    enum xb_status (*take)(void *state, const struct xb_report_document *document,
                           struct xb_error *error);
    /* Called after the last file, to judge everything that take() kept. NULL: not needed.
     * XB_ERR_MEMORY only. */
    enum xb_status (*finish)(void *state, struct xb_error *error);
    bool (*speaks)(const void *state); /* whether there is anything to say */
    void (*write)(struct xb_page *page, void *state);
    void (*free)(void *state); /* what the state points to */
};

/* Of a link test: links.c. */
extern const struct xb_section xb_section_verdicts;
extern const struct xb_section xb_section_path; /* its links, as a tree */
/* Of a result: */
extern const struct xb_section xb_section_advice; /* the Reading */
extern const struct xb_section xb_section_notes;  /* why rows have no figure, and warnings */
extern const struct xb_section xb_section_by_size;
extern const struct xb_section xb_section_by_mode;
extern const struct xb_section xb_section_matrices; /* of pairs, also of a link test's, and nodes */
extern const struct xb_section xb_section_samples;
extern const struct xb_section xb_section_numbers; /* all rows */
/* Of a comparison: */
extern const struct xb_section xb_section_ratios;
extern const struct xb_section xb_section_differences;
/* Of a trace, and of what advise, list and fleet wrote: */
extern const struct xb_section xb_section_timelines;
extern const struct xb_section xb_section_strategies;
extern const struct xb_section xb_section_devices;
extern const struct xb_section xb_section_findings;

/* Of all files together: */
extern const struct xb_common_section xb_section_fleet; /* GPUs of many nodes, by their siblings */
extern const struct xb_common_section xb_section_trends;
extern const struct xb_common_section xb_section_conditions;

/* Shows one figure over the GPUs of a fleet. */

/* The unit in which the page shows a figure: "GB/s" for B/s, "us" for s. */
const char *xb_siblings_unit(const struct xb_fleet_figure *figure);
/* A value of the fleet in that unit; `text` holds 32 bytes. */
const char *xb_siblings_value_text(const struct xb_fleet_figure *figure, double value, char *text,
                                   size_t size);
/* What the compared GPUs share: "NVIDIA H200, Gen5 x16, driver 580.159.04, chunk=4194304". */
#define XB_SIBLINGS_KIND 640
const char *xb_siblings_kind_text(const struct xb_fleet_figure *figure, char *text, size_t size);
/* "GPUs" or "pairs". */
const char *xb_siblings_counted(const struct xb_fleet_judgement *judgement,
                                const struct xb_fleet_siblings *siblings);

/* Draws its values by node, and each named GPU with a marker. `ranks`: for each node of the fleet
 * the position of its name among all names, from 0. */
void xb_siblings_draw(struct xb_page *page, const struct xb_fleet_judgement *judgement,
                      const struct xb_fleet_siblings *siblings, const size_t *ranks);
