/* SPDX-License-Identifier: Apache-2.0 */
/* Documents from files, folders and streams, taken into a fleet by several threads. */
#define _GNU_SOURCE /* fopencookie */
#include "fleet/internal.h"

#include "base/day_time.h"
#include "base/documents.h"
#include "base/file_text.h"
#include "base/interrupt.h"
#include "base/parallel.h"
#include "link/report.h"
#include "machine/node.h"
#include "record/document.h"
#include "run/command.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- one document ---- */

#define MOST_KEYS 1000
#define LATEST 1e11 /* seconds */

/* 0 for what is no time: a document without one is older than any other, but it counts. */
static double read_time(const char *text)
{
    struct xb_error ignored;
    double when = 0.0;
    return text != NULL && xb_day_time_parse(text, &when, &ignored) == XB_OK ? when : 0.0;
}

static void read_origin(struct xb_fleet_taking *taking, struct xb_json_reader *reader,
                        const cJSON *document)
{
    const cJSON *host = xb_json_get_optional_object(reader, document, "host", MOST_KEYS);
    const cJSON *backend = xb_json_get_optional_object(reader, document, "backend", MOST_KEYS);
    const cJSON *start = xb_json_get_optional_object(reader, document, "start", MOST_KEYS);
    const cJSON *clock = xb_json_get_optional_object(reader, start, "clock", MOST_KEYS);
    const cJSON *launcher = xb_json_get_optional_object(reader, document, "launcher", MOST_KEYS);
    double began = read_time(xb_json_get_optional_text(reader, start, "began"));
    taking->host.name = xb_json_get_optional_text(reader, host, "node");
    taking->host.hostname = xb_json_get_optional_text(reader, host, "hostname");
    taking->backend = xb_json_get_optional_text(reader, backend, "name");
    taking->host.driver = xb_json_get_optional_text(reader, backend, "driver_version");
    if (taking->host.name == NULL)
        taking->host.name = taking->host.hostname;
    struct xb_fleet_source *source = &taking->origin;
    source->dated = (time_t)read_time(xb_json_get_optional_text(reader, document, "timestamp"));
    source->began = began > 0.0 ? began : (double)NAN;
    source->late_s = xb_json_get_optional_number(reader, start, "late_s", LATEST);
    source->unsynchronised = cJSON_IsFalse(cJSON_GetObjectItemCaseSensitive(clock, "synchronised"));
    source->rank = (unsigned)xb_json_get_optional_whole(reader, launcher, "rank", XB_RANKS - 1);
    source->ranks = (unsigned)xb_json_get_optional_whole(reader, launcher, "ranks", XB_RANKS);
}

struct piece {
    char *path;
    size_t number; /* of the document in its file; 0: it is the only one, or none */
    uint64_t line; /* where it begins; 0: it is the only one */
    char *text;    /* NULL: it is broken, and `why` says why */
    size_t length;
    char why[640];
    bool is_foreign;       /* it is not broken, but it is of no node */
    struct xb_fleet taken; /* a fleet of this document alone */
};

/* Takes a document into its fleet, or says why it is left out. Several threads may do so. */
static void take_document(const struct xb_fleet_terms *terms, struct piece *piece)
{
    static const char itself[] = "document", before[] = "document: "; /* in readers' messages */
    struct xb_json_reader reader = {.place = {.path = itself}};
    struct xb_fleet_taking taking = {.fleet = &piece->taken, .terms = terms};
    cJSON *tree = xb_json_read(&reader, piece->text, piece->length);
    enum xb_document_kind kind = xb_document_kind_of(tree);
    const cJSON *schema = cJSON_GetObjectItemCaseSensitive(tree, "schema");
    char *why = piece->why;
    const size_t room = sizeof piece->why;
    piece->is_foreign = tree != NULL && kind != XB_DOCUMENT_LINK && kind != XB_DOCUMENT_RESULT &&
                        kind != XB_DOCUMENT_PROCESSES;
    if (piece->is_foreign && kind != XB_DOCUMENT_FOREIGN) {
        snprintf(why, room, "%s: fleet reads only link tests and results",
                 xb_document_kind_name(kind));
    } else if (piece->is_foreign && cJSON_IsString(schema)) {
        snprintf(why, room, "not written by xferbench: its schema is \"%.100s\"",
                 schema->valuestring);
    } else if (piece->is_foreign) {
        snprintf(why, room, "not written by xferbench: it names no schema");
    } else if (tree != NULL) {
        bool is_link = kind == XB_DOCUMENT_LINK;
        taking.origin = (struct xb_fleet_source){
            .path = piece->path, .number = piece->number, .kind = is_link ? "link" : "run"};
        read_origin(&taking, &reader, tree);
        if (taking.host.name == NULL)
            snprintf(why, room, "it has no host name");
        else if (!xb_json_failed(&reader))
            (is_link ? xb_taking_link : xb_taking_record)(&taking, &reader, tree);
    }
    cJSON_Delete(tree);
    if (reader.error.status == XB_ERR_MEMORY)
        xb_memory_end(piece->length);
    const char *message = reader.error.message;
    if (xb_json_failed(&reader))
        snprintf(why, room, "%s",
                 message +
                     (strncmp(message, before, sizeof before - 1) == 0 ? sizeof before - 1 : 0));
}

/* ---- a batch ---- */

/*
 * Collects documents, and reads a whole batch of them with several threads. They come into the
 * fleet in the order in which they were added, so it does not matter which thread is faster.
 */

#define MOST_PIECES 256
#define MOST_BYTES ((size_t)32 << 20)    /* of text; the last document may exceed it */
#define LARGEST_BYTES ((size_t)64 << 20) /* of one document */

struct batch {
    struct xb_fleet *fleet;
    struct xb_fleet_terms terms;
    struct piece *pieces;
    size_t count;
    size_t bytes;          /* of their texts */
    struct xb_error error; /* the first failure: nothing is read after it */
};

static bool failed(const struct batch *batch)
{
    return batch->error.status != XB_OK;
}

static void begin(struct batch *batch, struct xb_fleet *fleet)
{
    struct xb_fleet_terms *terms = &batch->terms;
    struct xb_error *error = &batch->error;
    *batch = (struct batch){.fleet = fleet,
                            .terms = {.rows = xb_run_rows()},
                            .pieces = xb_new(MOST_PIECES, sizeof *batch->pieces)};
    error->status = xb_size_parse(xb_option_find(xb_link_rows(), "size")->default_text,
                                  &terms->link_bytes, error);
    if (!failed(batch))
        error->status = xb_record_of_defaults(terms->rows, &terms->defaults, error);
}

static void empty(struct batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        struct piece *piece = &batch->pieces[i];
        free(piece->path);
        free(piece->text);
        xb_fleet_free(&piece->taken);
        *piece = (struct piece){.path = NULL};
    }
    batch->count = batch->bytes = 0;
}

/* Each into a fleet of its own. */
static void read_pieces(void *argument, uint64_t first, uint64_t end)
{
    struct batch *batch = argument;
    for (uint64_t i = first; i < end && xb_interrupt_signal() == 0; i++) {
        struct piece *piece = &batch->pieces[i];
        if (piece->text == NULL)
            continue;
        xb_fleet_open(&piece->taken);
        piece->taken.now = batch->fleet->now;
        take_document(&batch->terms, piece);
    }
}

/* Adds everything of a document: each thread takes one into a fleet of its own. */
static void merge(struct xb_fleet *fleet, const struct xb_fleet *from)
{
    /* The index in the one fleet of each item of the other. */
    size_t count = from->source_count + from->node_count + from->gpu_count + from->figure_count;
    size_t *sources = xb_new(count, sizeof *sources);
    size_t *nodes = sources + from->source_count, *gpus = nodes + from->node_count;
    size_t *figures = gpus + from->gpu_count;
    for (size_t i = 0; i < from->source_count; i++)
        sources[i] = xb_fleet_add_source(fleet, &from->sources[i]);
    for (size_t i = 0; i < from->node_count; i++)
        nodes[i] = xb_fleet_add_node(fleet, &from->nodes[i]);
    for (size_t i = 0; i < from->gpu_count; i++) {
        struct xb_fleet_gpu gpu = from->gpus[i];
        gpu.node = nodes[gpu.node];
        gpus[i] = xb_fleet_add_gpu(fleet, &gpu);
    }
    for (size_t i = 0; i < from->figure_count; i++)
        figures[i] = xb_fleet_add_figure(fleet, &from->figures[i]);
    for (size_t i = 0; i < from->value_count; i++) {
        struct xb_fleet_value value = from->values[i];
        value.figure = figures[value.figure];
        value.gpu = gpus[value.gpu];
        value.source = sources[value.source];
        xb_fleet_add_value(fleet, &value);
    }
    for (size_t i = 0; i < from->complaint_count; i++) {
        struct xb_fleet_complaint complaint = from->complaints[i];
        complaint.node = nodes[complaint.node];
        complaint.gpu = complaint.gpu != XB_FLEET_NONE ? gpus[complaint.gpu] : XB_FLEET_NONE;
        complaint.source = sources[complaint.source];
        xb_fleet_add_complaint(fleet, &complaint);
    }
    free(sources);
}

/* Reads its documents into the fleet, and empties it. */
static void read_batch(struct batch *batch)
{
    xb_parallel_for(batch->count, 1, read_pieces, batch);
    if (xb_interrupt_signal() != 0)
        (void)XB_FAIL(&batch->error, XB_ERR_STOPPED, "stopped by a signal while reading");
    for (size_t i = 0; i < batch->count && !failed(batch); i++) {
        const struct piece *piece = &batch->pieces[i];
        struct xb_words what = {.length = 0};
        if (piece->why[0] == '\0') {
            merge(batch->fleet, &piece->taken);
            continue;
        }
        xb_words_add(&what, "%s", piece->path);
        if (piece->number > 0)
            xb_words_add(&what, ", document %zu", piece->number);
        if (piece->line > 0)
            xb_words_add(&what, ", line %" PRIu64, piece->line);
        xb_fleet_leave_out(batch->fleet, what.text, piece->why, piece->is_foreign);
    }
    empty(batch);
}

/* Adds a document of a file, or the reason why there is none; copies both. Before that it reads a
 * batch that is full. A document may be so long that its memory is lacking. */
static void add(struct batch *batch, const char *path, size_t number,
                const struct xb_document_piece *read)
{
    if (!failed(batch) && (batch->count == MOST_PIECES || batch->bytes >= MOST_BYTES))
        read_batch(batch);
    if (failed(batch))
        return;
    struct piece *piece = &batch->pieces[batch->count];
    *piece = (struct piece){.path = xb_copy(path),
                            .number = number,
                            .line = read->line,
                            .text = read->text != NULL ? malloc(read->length + 1) : NULL,
                            .length = read->length};
    batch->count++;
    batch->bytes += read->length;
    if (read->text != NULL && piece->text == NULL)
        (void)XB_FAIL(&batch->error, XB_ERR_MEMORY, "no memory for a document of %zu bytes",
                      read->length);
    else if (read->text != NULL)
        memcpy(piece->text, read->text, read->length + 1); /* and the zero behind it */
    else if (read->why != NULL)
        snprintf(piece->why, sizeof piece->why, "%s", read->why);
}

/* Reads what is in it, unless something failed before, and closes it. */
static enum xb_status finish(struct batch *batch, struct xb_error *error)
{
    if (!failed(batch))
        read_batch(batch);
    empty(batch);
    free(batch->pieces);
    xb_record_free(&batch->terms.defaults);
    if (failed(batch))
        *error = batch->error;
    return batch->error.status;
}

static void leave_out(struct batch *batch, const char *path, const char *why)
{
    add(batch, path, 0, &(struct xb_document_piece){.why = why});
}

static void leave_out_unread(struct batch *batch, const char *path, int code)
{
    char why[256];
    snprintf(why, sizeof why, "cannot be read: %s (%s)", strerror(code), xb_errno_name(code));
    leave_out(batch, path, why);
}

/* ---- a stream ---- */

/* Adds a stream's pieces. The first waits in the batch until it is clear whether it is the only
 * one, because an only one gets no number. */
static void read_stream(struct batch *batch, const char *path, FILE *stream)
{
    struct xb_documents documents;
    struct xb_document_piece piece;
    size_t count = 0, number = 0;
    bool any = true;
    xb_documents_open(&documents, stream, LARGEST_BYTES);
    while (!failed(batch) && xb_documents_next(&documents, &piece, &any, &batch->error) == XB_OK &&
           any) {
        count++;
        number += !piece.is_none;
        add(batch, path, piece.is_none ? 0 : number, &piece);
    }
    xb_documents_close(&documents);
    if (count == 0)
        leave_out(batch, path, "it is empty");
    else if (count == 1 && !failed(batch))
        batch->pieces[batch->count - 1].number = batch->pieces[batch->count - 1].line = 0;
}

/* A descriptor as a stream that a signal ends: reading then fails with EINTR. A plain read would go
 * on after a signal, because the program's handlers restart system calls, and wait for a sender
 * that may never write again. */
struct input {
    int descriptor;
    bool owns; /* closes the descriptor too */
};

/* A signal that comes just before poll() begins to wait does not end it: look again after that. */
#define LOOK_MS 100

static ssize_t read_some(void *cookie, char *buffer, size_t size)
{
    const struct input *input = cookie;
    struct pollfd waiting = {.fd = input->descriptor, .events = POLLIN};
    while (xb_interrupt_signal() == 0) {
        int ready = poll(&waiting, 1, LOOK_MS);
        ssize_t got = ready > 0 ? read(input->descriptor, buffer, size) : ready;
        bool goes_on = ready == 0 || (got < 0 && (errno == EINTR || errno == EAGAIN));
        if (!goes_on)
            return got;
    }
    errno = EINTR;
    return -1;
}

static int close_input(void *cookie)
{
    struct input *input = cookie;
    int failed = input->owns ? close(input->descriptor) : 0;
    free(input);
    return failed;
}

static FILE *open_input(int descriptor, bool owns)
{
    struct input *input = xb_new(1, sizeof *input);
    *input = (struct input){.descriptor = descriptor, .owns = owns};
    FILE *stream =
        fopencookie(input, "r", (cookie_io_functions_t){.read = read_some, .close = close_input});
    if (stream == NULL)
        xb_memory_end(sizeof *input);
    return stream;
}

/* ---- a file ---- */

/* Opens a file that can hold a document; NULL with errno for anything else. Looks at its type
 * first, because opening a device can make it act. Opening a FIFO would wait for its writer, also
 * after a signal: O_NONBLOCK leaves the waiting to the stream. A regular file is opened without it:
 * if a server of NFS or Samba has a lease on the file, opening waits until that is given back. */
static FILE *open_file(const char *path, bool pipes, struct stat *file)
{
    FILE *stream = NULL;
    if (stat(path, file) != 0)
        return NULL;
    bool is_pipe = S_ISFIFO(file->st_mode);
    errno = S_ISDIR(file->st_mode) ? EISDIR : EINVAL;
    if (!S_ISREG(file->st_mode) && !(pipes && is_pipe))
        return NULL;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | (is_pipe ? O_NONBLOCK : 0));
    if (descriptor >= 0)
        stream = is_pipe ? open_input(descriptor, true) : fdopen(descriptor, "r");
    if (descriptor >= 0 && stream == NULL)
        close(descriptor);
    return stream;
}

static void read_file(struct batch *batch, const char *path, bool pipes)
{
    struct stat file = {.st_mode = 0};
    FILE *stream = open_file(path, pipes, &file);
    if (stream == NULL && errno == EINVAL && file.st_mode != 0) {
        leave_out(batch, path, "it is no regular file");
    } else if (stream == NULL) {
        leave_out_unread(batch, path, errno);
    } else {
        read_stream(batch, path, stream);
        fclose(stream);
    }
}

/* ---- a folder ---- */

struct folder {
    struct batch *batch;
    bool any; /* file in it */
};

static bool take_entry(void *argument, const char *path, int code)
{
    struct folder *folder = argument;
    folder->any = true;
    if (code != 0)
        leave_out_unread(folder->batch, path, code);
    else
        read_file(folder->batch, path, false);
    return !failed(folder->batch);
}

static void read_folder(struct batch *batch, const char *path)
{
    struct folder folder = {.batch = batch};
    xb_folder_each(path, take_entry, &folder);
    if (!failed(batch) && !folder.any)
        leave_out(batch, path, "it has no file that ends with .json, .jsonl or .ndjson");
}

/* ---- what others call ---- */

enum xb_status xb_fleet_read(struct xb_fleet *fleet, const char *path, struct xb_error *error)
{
    struct batch batch;
    struct stat file;
    begin(&batch, fleet);
    if (strcmp(path, "-") == 0) {
        FILE *stream = open_input(STDIN_FILENO, false);
        read_stream(&batch, path, stream);
        fclose(stream);
    } else if (!failed(&batch) && stat(path, &file) == 0 && S_ISDIR(file.st_mode)) {
        read_folder(&batch, path);
    } else if (!failed(&batch)) {
        read_file(&batch, path, true);
    }
    return finish(&batch, error);
}

enum xb_status xb_fleet_read_text(struct xb_fleet *fleet, const char *path, size_t number,
                                  const char *text, size_t length, struct xb_error *error)
{
    struct batch batch;
    begin(&batch, fleet);
    add(&batch, path, number, &(struct xb_document_piece){.text = text, .length = length});
    return finish(&batch, error);
}
