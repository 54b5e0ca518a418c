/* SPDX-License-Identifier: Apache-2.0 */
#include "charge.h"
#include "internal.h"
#include "node_tally.h"
#include "order.h"

#include <stdlib.h>
#include <string.h>

/*
 * If many nodes say the same against themselves, a limit, an option or a driver is likelier than so
 * many faults. The same is what has the same cause: a warning that all nodes have must not hide the
 * one GPU that has an error besides. Data that is wrong is wrong on every node.
 */

/* A cause of a charge. */
struct topic {
    enum xb_fleet_fault fault;
    const char *words;
    size_t length;
    size_t node;
    struct xb_charge *charge;
};

/* Causes of one kind lie together. */
static int compare_topics(const struct topic *left, const struct topic *right)
{
    int order =
        XB_FIRST_ORDER(XB_ORDER(left->fault, right->fault), XB_ORDER(left->length, right->length));
    return order != 0 ? order : memcmp(left->words, right->words, left->length);
}

static int sort_topics(const void *left, const void *right)
{
    return compare_topics(left, right);
}

static bool may_be_together(const struct xb_charge *charge)
{
    return !charge->replaced && charge->complaint->fault != XB_FLEET_WRONG_DATA;
}

/* Of one charge; returns how many. With `topics` of NULL only counts. One without causes has an
 * empty one. */
static size_t list_topics(struct xb_charge *charge, struct topic *topics)
{
    const char *words = charge->complaint->causes != NULL ? charge->complaint->causes : "";
    size_t count = 0;
    for (;;) {
        size_t length = strcspn(words, "\n");
        if (topics != NULL)
            topics[count] = (struct topic){charge->complaint->fault, words, length,
                                           charge->complaint->node, charge};
        count++;
        if (words[length] == '\0')
            return count;
        words += length + 1;
    }
}

static void mark(const struct xb_fleet *fleet, const struct topic *topics, size_t count,
                 struct xb_node_tally *tally)
{
    for (size_t begin = 0, end = 0; begin < count; begin = end) {
        xb_node_tally_begin(tally);
        for (; end < count && compare_topics(&topics[end], &topics[begin]) == 0; end++)
            xb_node_tally_add(tally, topics[end].node);
        bool together = xb_fleet_is_together(tally->count, fleet->node_count);
        for (size_t i = begin; i < end; i++)
            topics[i].charge->together = topics[i].charge->together && together;
    }
}

enum xb_status xb_charges_mark_together(const struct xb_fleet *fleet, struct xb_charge *charges,
                                        size_t count, struct xb_error *error)
{
    size_t listed = 0;
    for (size_t i = 0; i < count; i++) {
        charges[i].together = may_be_together(&charges[i]);
        listed += charges[i].together ? list_topics(&charges[i], NULL) : 0;
    }
    struct topic *topics = calloc(listed + 1, sizeof *topics);
    struct xb_node_tally tally;
    enum xb_status status = xb_node_tally_open(&tally, fleet, error);
    if (status == XB_OK && topics == NULL)
        status = xb_fleet_no_memory(error);
    if (status == XB_OK) {
        listed = 0;
        for (size_t i = 0; i < count; i++)
            listed += charges[i].together ? list_topics(&charges[i], topics + listed) : 0;
        qsort(topics, listed, sizeof *topics, sort_topics);
        mark(fleet, topics, listed, &tally);
    }
    xb_node_tally_close(&tally);
    free(topics);
    return status;
}
