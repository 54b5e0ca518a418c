/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* For cases.h: sets members of structures by the names that they have in JSON. */
#include "base/json_fields.h"

/* "under_load.hops.0.width=8". An item is a number, a list ("0-2") or "*": all that there are;
 * "at_rest+after.dead=1" sets two. A member that is null is not known, any other is; of an object
 * also "aer=null" and "aer=known" may be said. */
void set_field(const struct xb_field *fields, void *of, const char *assignment);
/* Each of the words. */
void set_fields(const struct xb_field *fields, void *of, char **words);
