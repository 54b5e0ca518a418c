/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdio.h>

/*
 * The text exposition format (Prometheus documentation, "Exposition formats"): a family of samples
 * begins with its HELP and TYPE, once, and all its samples stand together.
 */

struct xb_metric_label {
    const char *name, *value; /* without a value it is left out */
};

/* A list of labels, in memory of the block that it stands in; a number as a label's value. */
#define XB_METRIC_LABELS(...) ((const struct xb_metric_label[]){__VA_ARGS__, {NULL, NULL}})
#define XB_METRIC_NUMBER(number) xb_metric_number((number), (char[24]){0})
const char *xb_metric_number(size_t number, char text[24]);

/* Begins a family of gauges; its name is `prefix` and `name`. */
void xb_metric_begin(FILE *stream, const char *prefix, const char *name, const char *help);

/* Writes {name="value",...}: values as UTF-8, with every character escaped that could end them. The
 * list ends with a label that has no name, and its first label has a value. */
void xb_metric_put_labels(FILE *stream, const struct xb_metric_label *labels);
