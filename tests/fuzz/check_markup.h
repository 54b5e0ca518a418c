/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "target.h"

/*
 * Requires that a text is one element of XML that is well-formed, and a newline: of these elements
 * and no others (the list ends with NULL), with known entities, no harmful character, and numbers
 * in the attributes of pictures that are numbers.
 */
void check_markup(const char *text, const char *const *elements);
