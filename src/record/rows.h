/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/units.h"
#include "record.h"

/* Cases of devices or pairs that ran at the same time stand side by side in a record: first the
 * case of all of them together, their sum (xb_record_is_sum), then one of each. */

/* Whether it is of a set of transfers (--transfer), or their sum. */
bool xb_case_is_of_a_set(const struct xb_record_case *test);

/* Whether it is of a pair of devices, or the sum of pairs; none of a set is. */
bool xb_case_is_of_pairs(const struct xb_record_case *test);

/* Whether it stands in a matrix of pairs: every pair does, and the sum of pairs that are there. */
bool xb_case_is_in_matrix(const struct xb_record *record, const struct xb_record_case *test);

/* How many devices or pairs ran at the same time as this case's, itself included; 0 for a case of
 * one alone or where the sum is not there. `test` is one of record->cases. */
size_t xb_group_size(const struct xb_record *record, const struct xb_record_case *test);

/* "0", "0>1" for a pair; of those that ran at the same time "sum of 4" and "0 (with 3 others)", and
 * of pairs "0>all" and "0>1 (with 2 others)". */
const char *xb_device_text(const struct xb_record *record, const struct xb_record_case *test,
                           char *text, size_t size);

/* What cases may differ in, and be alike all the same. */
enum {
    XB_BUT_SIZE = 1,
    XB_BUT_DEVICES = 2, /* device and peer */
    XB_BUT_NODE = 4,    /* the NUMA node of the host's memory */
    XB_BUT_PARAMETERS = 8
};

/* Orders cases by everything that makes them, but for that; 0: they are alike. */
int xb_cases_order(const struct xb_record_case *a, const struct xb_record_case *b, unsigned but);
/* Orders them by their parameters, but for one of that name; NULL: by all. */
int xb_parameters_order(const struct xb_record_case *a, const struct xb_record_case *b,
                        const char *without);

/* Whether a signal or the deadline came before any process measured it: nothing is to be shown. */
bool xb_case_was_not_run(const struct xb_record *record, const struct xb_record_case *test);

/* Whether a row must say of which device it is: there are several, or pairs. */
bool xb_rows_name_devices(const struct xb_record *record);

/* The largest size below `below` of any case; 0 where there is none. */
uint64_t xb_rows_size_below(const struct xb_record *record, uint64_t below);

/* What people call the method of a case: "pinned", "pageable, by a ring"; "mode variant" of one
 * that this build does not know. Plain ASCII, written to `text`. */
const char *xb_method_name(const struct xb_record_case *test, char *text, size_t size);

/* "to the GPU", "back to the host", "both ways", "within the GPU"; of pairs "one way". */
const char *xb_direction_words(const struct xb_record_case *test);

/* ---- parameters ---- */

/* The most parameters that a table has room for. */
#define XB_PARAMETERS_SHOWN 8

/* The most modes with a parameter of a file that are looked at: each is searched in every case. */
#define XB_PARAMETERS_MOST 128

/* The parameters that a reader must see to tell rows apart. All of it points into the record. */
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

/* Whether an option of a file has its default (`defaults`: xb_record_of_defaults, or NULL); true
 * where its value is not known, false where its default is not. */
bool xb_fact_is_default(const struct xb_record *defaults, const struct xb_record_fact *option);
/* Whether a parameter of a case has it: one value, if the option, a row of `rows`, is a list. */
bool xb_parameter_is_default(const struct xb_record *defaults, const struct xb_option *const *rows,
                             const struct xb_record_fact *own);

/* Whether a parameter of the case is a size, by the option of its mode. */
bool xb_parameter_is_size(const struct xb_record_case *test, const char *name);

/* Writes a parameter of a case to `text`, a size by `size_text`. NULL where it has none. */
typedef const char *xb_parameter_size(uint64_t bytes, char *text, size_t size);
const char *xb_parameter_write(const struct xb_record_case *test, const char *name,
                               xb_parameter_size *size_text, char *text, size_t size);
/* For people: a size as "8 MiB", none as "0". For a name that programs keep: by xb_size_key(). */
#define xb_parameter_text(test, name, text, size)                                                  \
    xb_parameter_write((test), (name), xb_size_format, (text), (size))
#define xb_parameter_key(test, name, text, size)                                                   \
    xb_parameter_write((test), (name), xb_size_key, (text), (size))
