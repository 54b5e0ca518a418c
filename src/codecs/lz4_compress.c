/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/formats.h"

#include <lz4.h>

unsigned xb_lz4_compress(const void *source, unsigned size, void *target, unsigned room)
{
    return (unsigned)LZ4_compress_default(source, target, (int)size, (int)room);
}
