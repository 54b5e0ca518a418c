/* SPDX-License-Identifier: Apache-2.0 */
#include "xferbench/backend.h"

#include <string.h>

void xb_chain_write(void *memory, void *seen, uint64_t bytes, enum xb_access access)
{
    uint64_t lines = bytes / XB_CHAIN_LINE;
    uint64_t at = xb_chain_offset(access, bytes, 0);
    for (uint64_t turn = 1; turn <= lines; turn++) {
        uint64_t next = xb_chain_offset(access, bytes, turn);
        const void *address = (char *)seen + next;
        memcpy((char *)memory + at, &address, sizeof address);
        at = next;
    }
}
