/* SPDX-License-Identifier: Apache-2.0 */
/* What the Reading says of devices that ran at the same time. */
#include "internal.h"

#include "record/rows.h"

const struct xb_reading_line xb_reading_together = {.label = "all at once",
                                                    .code = "XB-ALL-AT-ONCE"};

static double share_of_alone(const struct xb_reading *reading, const struct xb_record_case *test)
{
    return xb_reading_median(reading, test, &xb_figure_share_of_alone);
}

/* The case with the least share behind (share, place) `last`; NULL: none is left. */
static const struct xb_record_case *next_worse(const struct xb_reading *reading,
                                               const struct xb_record_case *cases, size_t count,
                                               const struct xb_record_case *last)
{
    const struct xb_record_case *next = NULL;
    double before = last != NULL ? share_of_alone(reading, last) : 0;
    double least = 0;
    for (const struct xb_record_case *test = cases; test < cases + count; test++) {
        double share = share_of_alone(reading, test);
        bool later = share > before || (share > 0 && share == before && test > last);
        if (later && (next == NULL || share < least)) {
            next = test;
            least = share;
        }
    }
    return next;
}

/* "share_of_alone_2" of device 2. */
static void add_share_number(struct xb_reading *reading, const struct xb_record_case *test)
{
    char name[40];
    snprintf(name, sizeof name, "share_of_alone_%d", test->device);
    xb_reading_number(reading, name, share_of_alone(reading, test), XB_UNIT_RATIO);
    xb_reading_rests_on(reading, test);
}

static void add_shares(struct xb_reading *reading, const struct xb_record_case *cases, size_t count)
{
    size_t known = 0;
    for (const struct xb_record_case *test = NULL;
         (test = next_worse(reading, cases, count, test)) != NULL;) {
        xb_reading_add(reading, known == 0 ? " Each by what it has alone: " : ", ");
        xb_reading_add(reading, "device %d ", test->device);
        xb_reading_add_share(reading, share_of_alone(reading, test));
        add_share_number(reading, test);
        known++;
    }
    if (known > 0 && known < count)
        xb_reading_add(reading, " (the others were not measured alone)");
    if (known > 0)
        xb_reading_add(reading, ".");
}

static bool all_usable(const struct xb_reading *reading, const struct xb_record_case *cases,
                       size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!xb_reading_usable(reading, &cases[i]))
            return false;
    return true;
}

static void say_of(struct xb_reading *reading, const struct xb_record_case *sum)
{
    size_t count = xb_group_size(reading->record, sum);
    if (count == 0 || !all_usable(reading, sum, count + 1))
        return;
    double overlap = xb_reading_median(reading, sum, &xb_figure_overlap);
    xb_reading_begin(reading, xb_reading_together.label, xb_reading_together.code, -1, sum->bytes);
    xb_reading_add_way(reading, sum);
    xb_reading_add(reading, " moves ");
    xb_reading_add_rate(reading, xb_reading_bandwidth(reading, sum));
    xb_reading_add(reading, " GB/s on %zu devices at once.", count);
    xb_reading_number(reading, "bandwidth", xb_reading_bandwidth(reading, sum), XB_UNIT_RATE);
    xb_reading_number(reading, "devices", (double)count, XB_UNIT_RATIO);
    if (overlap > 0) {
        xb_reading_add(reading, " All moved data ");
        xb_reading_add_share_of_time(reading, overlap);
        xb_reading_add(reading, ".");
        xb_reading_number(reading, "overlap", overlap, XB_UNIT_RATIO);
    }
    add_shares(reading, sum + 1, count);
    xb_reading_keep(reading);
}

static bool is_usable_sum(const struct xb_reading *reading, const struct xb_record_case *test,
                          const void *argument)
{
    (void)argument;
    return xb_record_is_sum(test) && !xb_case_is_of_pairs(test) && xb_reading_usable(reading, test);
}

static int by_kind(const struct xb_record_case *a, const struct xb_record_case *b,
                   const void *argument)
{
    (void)argument;
    return xb_cases_order(a, b, XB_BUT_SIZE);
}

void xb_reading_say_together(struct xb_reading *reading)
{
    const struct xb_record_cases sums = xb_reading_group(reading, 0, is_usable_sum, by_kind, NULL);
    for (size_t i = 0, behind = 0; i < sums.count; i = behind) {
        const struct xb_record_case *largest = sums.cases[i];
        behind = i + xb_cases_equal(sums.cases + i, sums.count - i, by_kind, NULL);
        for (size_t k = i; k < behind; k++)
            largest = sums.cases[k]->bytes > largest->bytes ? sums.cases[k] : largest;
        say_of(reading, largest);
    }
}
