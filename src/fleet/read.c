/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* fdopen */
#include "read.h"

#include "base/documents.h"
#include "batch.h"
#include "folder.h"
#include "patient_input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- a stream ---- */

/* Adds a stream's pieces. The first waits in the batch until it is clear whether it is the only
 * one, because an only one gets no number. */
static enum xb_status read_stream(struct xb_batch *batch, const char *path, FILE *stream,
                                  struct xb_error *error)
{
    struct xb_documents documents;
    struct xb_document_piece piece;
    size_t count = 0;
    size_t number = 0;
    bool any = true;
    enum xb_status status = XB_OK;
    xb_documents_open(&documents, stream, XB_FLEET_LARGEST_BYTES);
    while (status == XB_OK && any) {
        if (count > 1 && xb_batch_is_full(batch))
            status = xb_batch_run(batch, error);
        if (status == XB_OK)
            status = xb_documents_next(&documents, &piece, &any, error);
        if (status != XB_OK || !any)
            break;
        count++;
        number += !piece.is_none;
        status = xb_batch_add(batch, path, piece.is_none ? 0 : number, piece.line, piece.text,
                              piece.length, piece.why, error);
    }
    xb_documents_close(&documents);
    if (status == XB_OK && count == 0)
        status = xb_batch_add(batch, path, 0, 0, NULL, 0, "it is empty", error);
    else if (status == XB_OK && count == 1)
        xb_batch_is_alone(batch);
    return status;
}

/* ---- a file ---- */

static enum xb_status leave_out(struct xb_batch *batch, const char *path, const char *why,
                                struct xb_error *error)
{
    enum xb_status status = xb_batch_is_full(batch) ? xb_batch_run(batch, error) : XB_OK;
    return status == XB_OK ? xb_batch_add(batch, path, 0, 0, NULL, 0, why, error) : status;
}

static enum xb_status leave_out_unread(struct xb_batch *batch, const char *path, int code,
                                       struct xb_error *error)
{
    char why[256];
    snprintf(why, sizeof why, "cannot be read: %s (%s)", strerror(code), xb_errno_name(code));
    return leave_out(batch, path, why, error);
}

/* Opens a file that can hold a document; NULL with errno for anything else. Looks at its type
 * first, because opening a device can make it act. Opening a FIFO would wait for its writer, also
 * after a signal: O_NONBLOCK leaves the waiting to the stream. A regular file is opened without it:
 * if a server of NFS or Samba has a lease on the file, opening waits until that is given back. */
static FILE *open_file(const char *path, bool pipes, struct stat *file)
{
    FILE *stream = NULL;
    if (stat(path, file) != 0)
        return NULL;
    errno = S_ISDIR(file->st_mode) ? EISDIR : EINVAL;
    if (!S_ISREG(file->st_mode) && !(pipes && S_ISFIFO(file->st_mode)))
        return NULL;
    bool is_pipe = S_ISFIFO(file->st_mode);
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | (is_pipe ? O_NONBLOCK : 0));
    if (descriptor >= 0)
        stream = is_pipe ? xb_patient_input_open(descriptor, true) : fdopen(descriptor, "r");
    if (descriptor >= 0 && stream == NULL)
        close(descriptor);
    return stream;
}

static enum xb_status read_file(struct xb_batch *batch, const char *path, bool pipes,
                                struct xb_error *error)
{
    struct stat file = {.st_mode = 0};
    FILE *stream = open_file(path, pipes, &file);
    if (stream == NULL && errno == EINVAL && file.st_mode != 0)
        return leave_out(batch, path, "it is no regular file", error);
    if (stream == NULL)
        return leave_out_unread(batch, path, errno, error);
    enum xb_status status = xb_batch_is_full(batch) ? xb_batch_run(batch, error) : XB_OK;
    if (status == XB_OK)
        status = read_stream(batch, path, stream, error);
    fclose(stream);
    return status;
}

/* ---- a folder ---- */

static enum xb_status read_folder(struct xb_batch *batch, const char *path, struct xb_error *error)
{
    struct xb_folder folder;
    const struct xb_folder_entry *entry = NULL;
    bool any = false;
    enum xb_status status = xb_folder_open(&folder, path, error);
    while (status == XB_OK && (entry = xb_folder_next(&folder)) != NULL) {
        any = true;
        if (entry->failure != 0)
            status = leave_out_unread(batch, entry->path, entry->failure, error);
        else
            status = read_file(batch, entry->path, false, error);
    }
    xb_folder_close(&folder);
    if (status == XB_OK && !any)
        status =
            leave_out(batch, path, "it has no file that ends with .json, .jsonl or .ndjson", error);
    return status;
}

/* ---- what others call ---- */

typedef enum xb_status read_into(struct xb_batch *batch, const char *path, FILE *stream,
                                 struct xb_error *error);

static enum xb_status read_path(struct xb_batch *batch, const char *path, FILE *stream,
                                struct xb_error *error)
{
    struct stat file;
    (void)stream;
    if (strcmp(path, "-") == 0)
        return read_stream(batch, path, stdin, error);
    if (stat(path, &file) == 0 && S_ISDIR(file.st_mode))
        return read_folder(batch, path, error);
    return read_file(batch, path, true, error);
}

static enum xb_status read_all(struct xb_fleet *fleet, read_into *read, const char *path,
                               FILE *stream, struct xb_error *error)
{
    struct xb_batch batch;
    enum xb_status status = xb_batch_open(&batch, fleet, error);
    if (status == XB_OK)
        status = read(&batch, path, stream, error);
    if (status == XB_OK)
        status = xb_batch_run(&batch, error);
    xb_batch_close(&batch);
    return status;
}

enum xb_status xb_fleet_read(struct xb_fleet *fleet, const char *path, struct xb_error *error)
{
    return read_all(fleet, read_path, path, NULL, error);
}

enum xb_status xb_fleet_read_stream(struct xb_fleet *fleet, const char *path, FILE *stream,
                                    struct xb_error *error)
{
    return read_all(fleet, read_stream, path, stream, error);
}

enum xb_status xb_fleet_read_text(struct xb_fleet *fleet, const char *path, size_t number,
                                  const char *text, size_t length, struct xb_error *error)
{
    struct xb_batch batch;
    enum xb_status status = xb_batch_open(&batch, fleet, error);
    if (status == XB_OK)
        status = xb_batch_add(&batch, path, number, 0, text, length, NULL, error);
    if (status == XB_OK)
        status = xb_batch_run(&batch, error);
    xb_batch_close(&batch);
    return status;
}
