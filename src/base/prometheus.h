/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_BASE_PROMETHEUS_H
#define XFERBENCH_BASE_PROMETHEUS_H

#include <stdio.h>

/* Writes a label of Prometheus' text format: name="value" after the character `before`. Makes the
 * value UTF-8, and escapes every character that could end it. */
void xb_prometheus_put_label(FILE *stream, char before, const char *name, const char *value);

#endif
