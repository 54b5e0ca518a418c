/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* strdup */
#include "batch.h"

#include "base/interrupt.h"
#include "base/parallel.h"

#include <inttypes.h>
#include <linux/limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum xb_status xb_batch_open(struct xb_batch *batch, struct xb_fleet *fleet, struct xb_error *error)
{
    *batch = (struct xb_batch){.fleet = fleet};
    batch->pieces = calloc(XB_BATCH_PIECES + 1, sizeof *batch->pieces);
    if (batch->pieces == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory to read documents");
    return xb_fleet_terms_make(&batch->terms, error);
}

static void empty(struct xb_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        struct xb_batch_piece *piece = &batch->pieces[i];
        free(piece->path);
        free(piece->text);
        xb_fleet_free(&piece->taken);
        *piece = (struct xb_batch_piece){.path = NULL};
    }
    batch->count = batch->bytes = 0;
}

void xb_batch_close(struct xb_batch *batch)
{
    empty(batch);
    free(batch->pieces);
    xb_fleet_terms_free(&batch->terms);
    *batch = (struct xb_batch){.fleet = NULL};
}

enum xb_status xb_batch_add(struct xb_batch *batch, const char *path, size_t number, uint64_t line,
                            const char *text, size_t length, const char *why,
                            struct xb_error *error)
{
    struct xb_batch_piece *piece = &batch->pieces[batch->count];
    *piece = (struct xb_batch_piece){.number = number, .line = line, .length = length};
    piece->path = strdup(path);
    piece->text = text != NULL ? malloc(length + 1) : NULL;
    batch->count++;
    batch->bytes += length;
    if (piece->path == NULL || (text != NULL && piece->text == NULL))
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for a document of %zu bytes", length);
    if (text != NULL)
        memcpy(piece->text, text, length + 1); /* and the zero behind it */
    else
        snprintf(piece->why, sizeof piece->why, "%s", why);
    return XB_OK;
}

void xb_batch_is_alone(struct xb_batch *batch)
{
    struct xb_batch_piece *piece = &batch->pieces[batch->count - 1];
    piece->number = 0;
    piece->line = 0;
}

bool xb_batch_is_full(const struct xb_batch *batch)
{
    return batch->count >= XB_BATCH_PIECES || batch->bytes >= XB_BATCH_BYTES;
}

/* Each into a fleet of its own. */
static void read_pieces(void *argument, uint64_t begin, uint64_t end)
{
    struct xb_batch *batch = argument;
    for (uint64_t i = begin; i < end && xb_interrupt_signal() == 0; i++) {
        struct xb_batch_piece *piece = &batch->pieces[i];
        if (piece->text == NULL)
            continue;
        piece->status = xb_fleet_open(&piece->taken, &piece->error);
        piece->taken.now = batch->fleet->now;
        if (piece->status == XB_OK)
            piece->status = xb_taking_document(&piece->taken, &batch->terms, piece->path,
                                               piece->number, piece->text, piece->length,
                                               piece->why, &piece->is_foreign, &piece->error);
    }
}

static enum xb_status leave_out(struct xb_fleet *fleet, const struct xb_batch_piece *piece,
                                struct xb_error *error)
{
    char what[PATH_MAX + 80];
    size_t length = (size_t)snprintf(what, sizeof what, "%s", piece->path);
    if (length < sizeof what && piece->number > 0)
        length +=
            (size_t)snprintf(what + length, sizeof what - length, ", document %zu", piece->number);
    if (length < sizeof what && piece->line > 0)
        snprintf(what + length, sizeof what - length, ", line %" PRIu64, piece->line);
    return xb_fleet_leave_out(fleet, what, piece->why, piece->is_foreign, error);
}

enum xb_status xb_batch_run(struct xb_batch *batch, struct xb_error *error)
{
    enum xb_status status = XB_OK;
    xb_parallel_for(batch->count, 1, read_pieces, batch);
    if (xb_interrupt_signal() != 0)
        status = XB_FAIL(error, XB_ERR_STOPPED, "stopped by a signal while reading");
    for (size_t i = 0; i < batch->count && status == XB_OK; i++) {
        const struct xb_batch_piece *piece = &batch->pieces[i];
        status = piece->status;
        if (status != XB_OK)
            *error = piece->error;
        else if (piece->why[0] != '\0')
            status = leave_out(batch->fleet, piece, error);
        else
            status = xb_fleet_absorb(batch->fleet, &piece->taken, error);
    }
    empty(batch);
    return status;
}
