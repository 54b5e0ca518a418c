/* SPDX-License-Identifier: Apache-2.0 */
/* Which cases of a grid of pieces (--pieces) need not be measured, by what was measured before
 * them: cells come from the smallest up, so the cells with the next smaller piece and with the next
 * lower number of pieces are done. */
#include "batch.h"

#include "base/options.h"
#include "base/units.h"
#include "measure/plan/case.h"
#include "measure/run.h"
#include "record/run_options.h"

#include <string.h>

/* A way that lost by as much in both cells beside this one is not measured. Where it was not
 * measured there either, the cells before count, and it must have lost by as much again for each
 * step: so many times may its disadvantage shrink from one cell to the next. */
#define LOST_BY 3.0

/* What is asked of earlier results: of the way of a case, in that cell. */
struct question {
    const struct xb_run *run;
    const struct xb_case *test;
    const struct xb_option *a_call;
    uint64_t piece, pieces;
};

static uint64_t number_of(const struct xb_case *test, const struct xb_option *option)
{
    return xb_case_setting(test, option)->count;
}

/* How many pieces one call takes; a call takes all pieces of a cell that has no more. */
static uint64_t cut_at(const struct xb_setting *a_call, uint64_t pieces)
{
    return a_call->count > 0 && a_call->count < pieces ? a_call->count : pieces;
}

/* Whether a case is of the cell, with all else as the question's case has it: moved in the same
 * way, or in any. */
static bool is_there(const struct question *question, const struct xb_case *other, bool any_way)
{
    const struct xb_case *test = question->test;
    bool alike = other->mode == test->mode && other->device == test->device &&
                 other->direction == test->direction && xb_case_same_node(other, test) &&
                 number_of(other, &xb_option_piece) == question->piece &&
                 number_of(other, &xb_option_pieces) == question->pieces &&
                 (any_way || strcmp(other->variant, test->variant) == 0);
    const struct xb_parameter *parameter = test->mode->parameters;
    for (; alike && parameter->option != NULL; parameter++) {
        const struct xb_option *option = parameter->option;
        const struct xb_setting *own = xb_case_find_setting(test, option);
        const struct xb_setting *its = xb_case_find_setting(other, option);
        if (own == NULL || its == NULL || option == &xb_option_piece ||
            option == &xb_option_pieces || (any_way && parameter->variant != NULL))
            continue;
        alike = option == question->a_call
                    ? cut_at(own, question->pieces) == cut_at(its, question->pieces)
                    : own->count == its->count &&
                          (own->word == NULL || strcmp(own->word, its->word) == 0);
    }
    return alike;
}

/* The fastest result of the cell that has an interval; NULL: none. `*first` becomes the first
 * result of any kind. */
static const struct xb_result *find(const struct question *question, bool any_way,
                                    const struct xb_result **first)
{
    const struct xb_result *fastest = NULL;
    *first = NULL;
    for (size_t i = 0; i < question->run->done_count; i++) {
        const struct xb_result *result = &question->run->results[i];
        if (!is_there(question, &result->test, any_way))
            continue;
        *first = *first == NULL ? result : *first;
        if (result->row.status == XB_RESULT_OK && result->bandwidth.has_interval &&
            (fastest == NULL || result->bandwidth.median > fastest->bandwidth.median))
            fastest = result;
    }
    return fastest;
}

/* The next smaller value of the option's list; 0: there is none. */
static uint64_t value_below(const struct xb_case *test, const struct xb_option *option,
                            uint64_t value)
{
    const struct xb_value *list = xb_config_get(test->asked->config, option);
    uint64_t below = 0;
    for (size_t i = 0; i < xb_value_length(list); i++) {
        uint64_t one = xb_value_number(list, i);
        below = one < value && one > below ? one : below;
    }
    return below;
}

/* Where a way lost, and to which: by its interval's best against the winner's worst. */
struct loss {
    double times;
    const struct xb_result *winner;
};

/* Goes to the cell with the next smaller piece (axis 0) or the next lower number of pieces. In the
 * first row or column, where there is none, two steps the other way: no way is left out for one
 * cell, which a busy host may have spoilt. False: there is no such cell. */
static bool go_beside(struct question *cell, int axis)
{
    static const struct xb_option *const axes[] = {&xb_option_piece, &xb_option_pieces};
    uint64_t *const at[] = {&cell->piece, &cell->pieces};
    bool is_first = value_below(cell->test, axes[axis], *at[axis]) == 0;
    axis = is_first ? 1 - axis : axis;
    for (int steps = is_first ? 2 : 1; steps > 0; steps--)
        *at[axis] = value_below(cell->test, axes[axis], *at[axis]);
    return *at[axis] > 0;
}

/* Cells to look beside at a time: at most one more for each step back. */
#define MOST_OPEN 64

/* Finds whether the way lost by enough in both cells beside the question's. *least becomes the
 * least loss that this rests on. */
static bool lost_beside(const struct question *question, struct loss *least)
{
    struct {
        uint64_t piece, pieces;
        double times; /* by which it must have lost beside it */
    } open[MOST_OPEN] = {{question->piece, question->pieces, LOST_BY}};
    for (size_t count = 1; count > 0;) {
        struct question cell = *question;
        cell.piece = open[--count].piece;
        cell.pieces = open[count].pieces;
        const double times = open[count].times;
        for (int axis = 0; axis < 2; axis++) {
            struct question beside = cell;
            const struct xb_result *first, *any;
            if (!go_beside(&beside, axis))
                return false;
            const struct xb_result *own = find(&beside, false, &first);
            const struct xb_result *winner = find(&beside, true, &any);
            if (own != NULL) {
                const struct loss loss = {winner->bandwidth.ci95_low / own->bandwidth.ci95_high,
                                          winner};
                if (loss.times < times)
                    return false;
                if (least->winner == NULL || loss.times < least->times)
                    *least = loss;
                continue;
            }
            if (first == NULL || first->row.status != XB_RESULT_SKIPPED || count == MOST_OPEN)
                return false;
            open[count].piece = beside.piece;
            open[count].pieces = beside.pieces;
            open[count++].times = times * LOST_BY;
        }
    }
    return true;
}

enum xb_status xb_batch_check_needed(const struct xb_mode_context *context,
                                     const struct xb_option *a_call, struct xb_error *error)
{
    const struct xb_case *test = context->test;
    struct question question = {.run = context->run,
                                .test = test,
                                .a_call = a_call,
                                .piece = number_of(test, &xb_option_piece),
                                .pieces = number_of(test, &xb_option_pieces)};
    const struct xb_result *twin;
    struct loss least = {.winner = NULL};
    (void)find(&question, false, &twin);
    if (twin != NULL)
        return XB_FAIL(error, XB_ERR_UNSUPPORTED,
                       "not needed: the same as --%s %llu, one call takes all %llu pieces",
                       a_call->name, (unsigned long long)number_of(&twin->test, a_call),
                       (unsigned long long)question.pieces);
    if (!lost_beside(&question, &least))
        return XB_OK;
    const struct xb_case *winner = &least.winner->test;
    return XB_FAIL(error, XB_ERR_UNSUPPORTED, "not needed: %.0f times slower than %s at %s x %llu",
                   least.times, winner->variant, XB_SIZE_TEXT(number_of(winner, &xb_option_piece)),
                   (unsigned long long)number_of(winner, &xb_option_pieces));
}
