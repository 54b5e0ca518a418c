/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/narrow.h"

#include <stddef.h>

#ifdef __x86_64__
#include <cpuid.h>

/* Not every compiler has a word for it in __builtin_cpu_supports. A hypervisor may take long to
 * answer this instruction, so it is asked once. Threads that ask at once get the same answer. */
static bool has_f16c(void)
{
    static _Atomic signed char known = -1;
    if (known < 0) {
        unsigned a, b, c = 0, d;
        known = __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
    }
    return known > 0;
}
#endif

const struct xb_narrow_way *xb_narrow_usable(unsigned number)
{
    const struct xb_narrow_way *usable[3] = {NULL};
    size_t count = 0;
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw"))
        usable[count++] = &xb_narrow_avx512;
    if (__builtin_cpu_supports("avx2") && has_f16c())
        usable[count++] = &xb_narrow_avx2;
#endif
    usable[count++] = &xb_narrow_plain;
    return number < count ? usable[number] : NULL;
}
