/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A loop over an array of `count` items: `item` points to one after the other. */
#define XB_EACH(item, items, count)                                                                \
    for (__typeof__(*(items)) *(item) = (items);                                                   \
         (item) != NULL && (size_t)((item) - (items)) < (count); (item)++)

/* A loop over groups of `count` sorted items, each from `begin` to before `end`: an item belongs to
 * the group while `same` holds, which says so with both. */
#define XB_EACH_GROUP(count, same)                                                                 \
    for (size_t begin = 0, end = 0; begin < (count) && ({                                          \
                                        while (end < (count) && (same))                            \
                                            end++;                                                 \
                                        true;                                                      \
                                    });                                                            \
         begin = end)

/* For functions that qsort() calls: below 0, 0, above 0. */
#define XB_ORDER(left, right) (((left) > (right)) - ((left) < (right)))
#define XB_ORDER_ADDRESSES(left, right) XB_ORDER((uintptr_t)(left), (uintptr_t)(right))

/* The first of these orders that is not 0: by the first key, then by the next, and so on. It
 * compares all keys, also those behind a difference, so each must be valid in any case. */
#define XB_FIRST_ORDER(...)                                                                        \
    xb_first_order((const int[]){__VA_ARGS__}, sizeof((const int[]){__VA_ARGS__}) / sizeof(int))
static inline int xb_first_order(const int *orders, size_t count)
{
    size_t first = 0;
    while (first + 1 < count && orders[first] == 0)
        first++;
    return orders[first];
}

/* Defines a comparer for qsort() of items of that type, or of pointers to them, which are `a` and
 * `b`: by the first of these orders that is not 0. */
#define XB_COMPARER(name, type, ...)                                                               \
    static int name(const void *left, const void *right)                                           \
    {                                                                                              \
        const type *a = left, *b = right;                                                          \
        return XB_FIRST_ORDER(__VA_ARGS__);                                                        \
    }
#define XB_POINTER_COMPARER(name, type, ...)                                                       \
    static int name(const void *left, const void *right)                                           \
    {                                                                                              \
        const type *a = *(const type *const *)left, *b = *(const type *const *)right;              \
        return XB_FIRST_ORDER(__VA_ARGS__);                                                        \
    }
/* In these: by a member, the least first or the greatest, or by an address. */
#define XB_BY(member) XB_ORDER(a->member, b->member)
#define XB_BY_GREATEST(member) XB_ORDER(b->member, a->member)
#define XB_BY_ADDRESS(member) XB_ORDER_ADDRESSES(a->member, b->member)
