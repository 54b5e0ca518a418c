/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "record.h"

/* The most parameters that a table has room for. */
#define XB_PARAMETERS_SHOWN 8

/* A file may have as many modes and parameters as it likes. Those past so many are not looked at:
 * each would be searched for in every case. */
#define XB_PARAMETERS_MOST 128

/* The parameters of a record that a reader must see to tell its rows apart: all of it points into
 * the record. */
struct xb_parameters {
    const char *names[XB_PARAMETERS_SHOWN];
    size_t count;
    struct xb_parameter_first { /* what the first case of a mode that has it has of a parameter */
        const char *mode;
        const struct xb_record_fact *fact;
        bool differs; /* another case of the mode has another value */
    } firsts[XB_PARAMETERS_MOST];
    size_t first_count;
};

/* Those that differ between cases of one mode, or in which a case has one of a list that does not
 * go without saying (mode.h) or a NUMA node, in the order in which they are met. */
struct xb_parameters xb_parameters_that_differ(const struct xb_record *record);

bool xb_parameters_have(const struct xb_parameters *parameters, const char *name);

/* Whether a case differs in that parameter of its own from another case of its mode that has it. */
bool xb_parameter_differs(const struct xb_parameters *parameters, const struct xb_record_case *test,
                          const char *name);

/*
 * Whether an option of a file has its default, as a program measures that does not have the option
 * yet; true where its value is not known, false where its default is not. `defaults` are the
 * options of `run` as they are by default (xb_record_of_defaults), or NULL.
 */
bool xb_fact_is_default(const struct xb_record *defaults, const struct xb_record_fact *option);
/* The same for a parameter of a case, which has one value if the option, a row of `rows`, is a
 * list. */
bool xb_parameter_is_default(const struct xb_record *defaults, const struct xb_option *const *rows,
                             const struct xb_record_fact *own);

/* Whether a parameter of the case is a size, by the option of its mode. */
bool xb_parameter_is_size(const struct xb_record_case *test, const char *name);

/* What a case has of a parameter, for people: a size as "8 MiB", none as "0". NULL where it has
 * none. */
const char *xb_parameter_text(const struct xb_record_case *test, const char *name, char *text,
                              size_t size);
/* The same for a name that programs keep: a size by xb_size_key(). */
const char *xb_parameter_key(const struct xb_record_case *test, const char *name, char *text,
                             size_t size);
