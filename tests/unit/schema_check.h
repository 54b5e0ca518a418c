/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/json_fields.h"
#include "testing.h"

/* Fails the test unless the schema, a file of docs/, describes each field of the table and of the
 * tables in it: as a member that is required, unless it was added later, of its type, and null
 * exactly where a reader takes null. What refers to another schema is left to that one's test.
 * `definition` is the name of the object in "$defs", or the keys that lead to it from the whole:
 * "properties/findings/items"; NULL: the document itself. */
void assert_schema_describes(const char *file, const char *definition,
                             const struct xb_field *fields);
