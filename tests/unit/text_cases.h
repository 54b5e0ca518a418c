/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdio.h>

/*
 * Commands in a text, and below each the lines that come of it, two spaces from the left.
 * Paragraphs, each for one thing that holds, are apart by empty lines; `#` begins a comment, and a
 * paragraph
 * `## what holds`. XB_UPDATE=1 in the environment writes what comes: read its diff.
 *
 * tests/unit/runs/NAME.txt: begins each paragraph anew and obeys its commands, whose words end with
 * NULL and stay; and compares what that writes.
 */
#define MOST_WORDS 40
void expect_text(const char *name, void (*begin)(void),
                 void (*obey)(FILE *out, const char *const *words));
