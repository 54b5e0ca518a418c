/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "damage.h"

#include "backends/slot_checks.h"

enum xb_status xb_damage_file_read(enum xb_damage damage, const struct xb_backend *inner,
                                   struct xb_file *file, uint64_t file_offset,
                                   struct xb_buffer *buffer, uint64_t offset, uint64_t bytes,
                                   struct xb_error *error)
{
    struct xb_piece parts[XB_DAMAGE_OPERATIONS];
    enum xb_status status = XB_OK;
    xb_damage_note_write(buffer);
    if (bytes < XB_DAMAGE_LEAST || xb_file_read_check(file, buffer, offset, bytes, error) != XB_OK)
        damage = XB_DAMAGE_NONE;
    xb_damage_count += damage != XB_DAMAGE_NONE;
    size_t count = xb_damage_parts(damage, bytes, XB_DAMAGE_BLOCK, parts);
    for (size_t i = 0; status == XB_OK && i < count; i++)
        status = inner->file_read(file, file_offset + parts[i].source_offset, buffer,
                                  offset + parts[i].target_offset, parts[i].bytes, error);
    if (status == XB_OK || damage != XB_DAMAGE_SHIFTED_2MIB)
        return status;
    xb_damage_count--; /* the file ends before: everything is right */
    return inner->file_read(file, file_offset, buffer, offset, bytes, error);
}
