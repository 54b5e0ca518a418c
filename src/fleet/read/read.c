/* SPDX-License-Identifier: Apache-2.0 */
/* Documents from files, folders and streams, taken into a fleet by several threads. */
#define _POSIX_C_SOURCE 200809L
#include "fleet/internal.h"

#include "base/documents.h"
#include "base/file_text.h"
#include "base/interrupt.h"
#include "base/parallel.h"
#include "base/units.h"
#include "record/document.h"
#include "run/request.h"

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

static void read_origin(struct xb_fleet_document *document, struct xb_json_reader *reader,
                        const cJSON *tree)
{
    const cJSON *host = xb_json_get_optional_object(reader, tree, "host", MOST_KEYS);
    const cJSON *backend = xb_json_get_optional_object(reader, tree, "backend", MOST_KEYS);
    const cJSON *start = xb_json_get_optional_object(reader, tree, "start", MOST_KEYS);
    const cJSON *clock = xb_json_get_optional_object(reader, start, "clock", MOST_KEYS);
    const cJSON *launcher = xb_json_get_optional_object(reader, tree, "launcher", MOST_KEYS);
    const cJSON *config = cJSON_GetObjectItemCaseSensitive(tree, "config");
    const cJSON *size = cJSON_GetObjectItemCaseSensitive(config, "size");
    const cJSON *devices = cJSON_GetObjectItemCaseSensitive(config, "device");
    const char *device = cJSON_GetStringValue(cJSON_GetArrayItem(devices, 0));
    const struct {
        const cJSON *object;
        const char *key, **to;
    } texts[] = {{host, "node", &document->host.name},
                 {host, "hostname", &document->host.hostname},
                 {host, "kernel", &document->host.kernel},
                 {backend, "name", &document->backend},
                 {backend, "driver_version", &document->host.driver}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *text = xb_json_get_optional_text(reader, texts[i].object, texts[i].key);
        *texts[i].to = text != NULL ? xb_arena_copy(&document->texts, text) : NULL;
    }
    if (document->host.name == NULL)
        document->host.name = document->host.hostname;
    document->host.is_partial =
        !document->is_link || (device != NULL && strcmp(device, "all") != 0);
    document->link_bytes = cJSON_IsNumber(size) ? size->valuedouble : (double)NAN;
    double began = read_time(xb_json_get_optional_text(reader, start, "began"));
    struct xb_fleet_source *source = &document->origin;
    source->kind = document->is_link ? "link" : "run";
    source->dated = (time_t)read_time(xb_json_get_optional_text(reader, tree, "timestamp"));
    source->began = began > 0.0 ? began : (double)NAN;
    source->late_s = xb_json_get_optional_number(reader, start, "late_s", LATEST);
    source->unsynchronised = cJSON_IsFalse(cJSON_GetObjectItemCaseSensitive(clock, "synchronised"));
    source->rank = (unsigned)xb_json_get_optional_whole(reader, launcher, "rank", XB_RANKS - 1);
    source->ranks = (unsigned)xb_json_get_optional_whole(reader, launcher, "ranks", XB_RANKS);
}

/* Its baseline is not in a document: what was found by that stays. */
static void keep_baseline(struct xb_findings *found, const struct xb_findings *own)
{
    XB_EACH (reason, own->reasons, own->reason_count) {
        bool is_there = strncmp(reason->code, "XB-BASELINE-", 12) != 0;
        for (size_t i = 0; i < found->reason_count; i++)
            is_there = is_there || strcmp(found->reasons[i].code, reason->code) == 0;
        if (!is_there)
            xb_finding_put(found, reason->accepted, reason->level, reason->code, "%s",
                           reason->text);
    }
}

/* Judges a link test as `link --limits` would have done. A GPU that matches no entry keeps its own
 * verdict, and so does what was not tested. */
static void judge_by(struct xb_fleet_document *document, const struct xb_limits_file *file)
{
    static const char *const none[] = {"XB-LINK-NONE", NULL}, *const ended[] = {"XB-INTERRUPTED",
                                                                                NULL};
    struct xb_link_report *report = &document->link.report;
    size_t devices = report->device_count * sizeof *report->verdicts;
    size_t pairs = report->pair_count * sizeof *report->pair_verdicts;
    struct xb_verdict *own =
        memcpy(xb_arena_new(&document->texts, devices), report->verdicts, devices);
    struct xb_pair_verdict *own_pairs =
        memcpy(xb_arena_new(&document->texts, pairs), report->pair_verdicts, pairs);
    bool *is_limited = xb_arena_new(&document->texts, report->device_count);
    for (size_t i = 0; i < report->device_count; i++) {
        struct xb_link_device *device = &report->devices[i];
        struct xb_link_limits limits = {.accepted_count = 0};
        unsigned generation = 0, width = 0;
        (void)xb_link_under_load(device, &generation, &width);
        is_limited[i] = XB_ATTEMPTS(device) > 0 && !xb_finding_is_any(&own[i].found, none) &&
                        xb_limits_file_match(file, device->info.name, generation, width, &limits);
        device->interrupted = xb_finding_is_any(&own[i].found, ended);
        document->limited += is_limited[i];
        report->verdicts[i].limits = limits;
    }
    for (size_t i = 0; i < report->pair_count; i++)
        report->pairs[i].interrupted = xb_finding_is_any(&own_pairs[i].found, ended);
    xb_verdict_of_node(report);
    for (size_t i = 0; i < report->device_count; i++)
        if (is_limited[i])
            keep_baseline(&report->verdicts[i].found, &own[i].found);
        else
            report->verdicts[i] = own[i];
    for (size_t i = 0; i < report->pair_count; i++)
        if (!is_limited[report->pairs[i].from] || !is_limited[report->pairs[i].to])
            report->pair_verdicts[i] = own_pairs[i];
        else
            keep_baseline(&report->pair_verdicts[i].found, &own_pairs[i].found);
}

/* Reads a document, or says why it is left out. Several threads may do so. */
static void read_document(struct xb_fleet_document *document, const struct xb_limits_file *limits)
{
    static const char itself[] = "document", before[] = "document: "; /* in readers' messages */
    struct xb_json_reader reader = {.place = {.path = itself}};
    cJSON *tree = xb_json_read(&reader, document->text, document->length);
    enum xb_document_kind kind = xb_document_kind_of(tree);
    const cJSON *schema = cJSON_GetObjectItemCaseSensitive(tree, "schema");
    const char *why = NULL;
    document->is_link = kind == XB_DOCUMENT_LINK;
    document->is_foreign = tree != NULL && !document->is_link && kind != XB_DOCUMENT_RESULT &&
                           kind != XB_DOCUMENT_PROCESSES;
    if (document->is_foreign && kind != XB_DOCUMENT_FOREIGN) {
        why = xb_arena_print(&document->texts, "%s: fleet reads only link tests and results",
                             xb_document_kind_name(kind));
    } else if (document->is_foreign && cJSON_IsString(schema)) {
        why = xb_arena_print(&document->texts, "not written by xferbench: its schema is \"%.100s\"",
                             schema->valuestring);
    } else if (document->is_foreign) {
        why = "not written by xferbench: it names no schema";
    } else if (tree != NULL) {
        read_origin(document, &reader, tree);
        if (document->host.name == NULL)
            why = "it has no host name";
        else if (!xb_json_failed(&reader))
            reader.error.status =
                document->is_link
                    ? xb_link_report_of_tree(itself, tree, &document->link, &reader.error)
                    : xb_record_of_tree(itself, tree, &document->record, &reader.error);
    }
    if (tree != NULL && document->is_link && why == NULL && !xb_json_failed(&reader) &&
        limits != NULL)
        judge_by(document, limits);
    cJSON_Delete(tree);
    if (reader.error.status == XB_ERR_MEMORY)
        xb_memory_end(document->length);
    const char *told = reader.error.message;
    if (xb_json_failed(&reader))
        why = xb_arena_print(
            &document->texts, "%.639s",
            told + (strncmp(told, before, sizeof before - 1) == 0 ? sizeof before - 1 : 0));
    document->why = why;
}

/* Collects documents, and reads a whole batch of them with several threads. The fleet then takes
 * them in the order in which they were added, so it does not matter which thread is faster. */

#define MOST_DOCUMENTS 32                /* a link test of many GPUs takes megabytes */
#define MOST_BYTES ((size_t)32 << 20)    /* of text; the last document may exceed it */
#define LARGEST_BYTES ((size_t)64 << 20) /* of one document */

struct batch {
    struct xb_fleet *fleet;
    struct xb_fleet_terms terms;
    struct xb_fleet_document *documents;
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
                            .documents = xb_new(MOST_DOCUMENTS, sizeof *batch->documents)};
    error->status = xb_size_parse(xb_option_find(xb_link_rows, "size")->default_text,
                                  &terms->link_bytes, error);
    if (!failed(batch))
        error->status = xb_record_of_defaults(terms->rows, &terms->defaults, error);
}

static void empty(struct batch *batch)
{
    XB_EACH (document, batch->documents, batch->count) {
        free(document->text);
        xb_link_file_free(&document->link);
        xb_record_free(&document->record);
        xb_arena_free(document->texts);
    }
    batch->count = batch->bytes = 0;
}

static void read_documents(void *argument, uint64_t first, uint64_t end)
{
    struct batch *batch = argument;
    for (uint64_t i = first; i < end && xb_interrupt_signal() == 0; i++)
        if (batch->documents[i].text != NULL)
            read_document(&batch->documents[i], batch->fleet->limits);
}

/* Reads its documents into the fleet, and empties it. */
static void read_batch(struct batch *batch)
{
    xb_parallel_for(batch->count, 1, read_documents, batch);
    if (xb_interrupt_signal() != 0)
        (void)XB_FAIL(&batch->error, XB_ERR_STOPPED, "stopped by a signal while reading");
    for (size_t i = 0; i < batch->count && !failed(batch); i++) {
        struct xb_fleet_document *document = &batch->documents[i];
        struct xb_words what = {.length = 0};
        if (document->why == NULL) {
            xb_fleet_take(batch->fleet, &batch->terms, document);
            continue;
        }
        xb_words_add(&what, "%s", document->origin.path);
        if (document->origin.number > 0)
            xb_words_add(&what, ", document %zu", document->origin.number);
        if (document->line > 0)
            xb_words_add(&what, ", line %" PRIu64, document->line);
        xb_fleet_leave_out(batch->fleet, what.text, document->why, document->is_foreign);
    }
    empty(batch);
}

/* Adds a document of a file, or the reason why there is none; copies both. Before that it reads a
 * batch that is full. A document may be so long that its memory is lacking. */
static void add(struct batch *batch, const char *path, size_t number,
                const struct xb_document_piece *read)
{
    if (!failed(batch) && (batch->count == MOST_DOCUMENTS || batch->bytes >= MOST_BYTES))
        read_batch(batch);
    if (failed(batch))
        return;
    struct xb_fleet_document *document = &batch->documents[batch->count++];
    *document = (struct xb_fleet_document){.line = read->line, .length = read->length};
    document->origin.path = xb_arena_copy(&document->texts, path);
    document->origin.number = number;
    if (read->why != NULL)
        document->why = xb_arena_print(&document->texts, "%.639s", read->why);
    if (read->text == NULL)
        return;
    batch->bytes += read->length;
    document->text = malloc(read->length + 1);
    if (document->text != NULL)
        memcpy(document->text, read->text, read->length + 1); /* and the zero behind it */
    else
        (void)XB_FAIL(&batch->error, XB_ERR_MEMORY, "no memory for a document of %zu bytes",
                      read->length);
}

/* Reads what is in it, unless something failed before, and closes it. */
static enum xb_status finish(struct batch *batch, struct xb_error *error)
{
    if (!failed(batch))
        read_batch(batch);
    empty(batch);
    free(batch->documents);
    xb_record_free(&batch->terms.defaults);
    if (failed(batch))
        *error = batch->error;
    return batch->error.status;
}

/* `code`: of errno, where that says why. */
static void leave_out(struct batch *batch, const char *path, int code, const char *why)
{
    char text[256];
    snprintf(text, sizeof text, "cannot be read: %s (%s)", strerror(code), xb_errno_name(code));
    add(batch, path, 0, &(struct xb_document_piece){.why = code != 0 ? text : why});
}

/* ---- a stream, a file, a folder ---- */

/* A signal that comes just before poll() begins to wait does not end it: look again after that. */
#define LOOK_MS 100

/* Reads a descriptor, which a signal ends with EINTR. A plain read would go on after a signal,
 * because the program's handlers restart system calls, and wait for a sender that may never write
 * again. */
static ssize_t read_some(void *descriptor, char *buffer, size_t size)
{
    struct pollfd waiting = {.fd = *(const int *)descriptor, .events = POLLIN};
    while (xb_interrupt_signal() == 0) {
        int ready = poll(&waiting, 1, LOOK_MS);
        ssize_t got = ready > 0 ? read(waiting.fd, buffer, size) : ready;
        bool goes_on = ready == 0 || (got < 0 && (errno == EINTR || errno == EAGAIN));
        if (!goes_on)
            return got;
    }
    errno = EINTR;
    return -1;
}

/* Adds a stream's pieces. The first waits in the batch until it is clear whether it is the only
 * one, because an only one gets no number. */
static void read_stream(struct batch *batch, const char *path, int descriptor)
{
    struct xb_documents documents;
    struct xb_document_piece piece;
    size_t count = 0, number = 0;
    bool any = true;
    xb_documents_open(&documents, read_some, &descriptor, LARGEST_BYTES);
    while (!failed(batch) && xb_documents_next(&documents, &piece, &any, &batch->error) == XB_OK &&
           any) {
        count++;
        number += !piece.is_none;
        add(batch, path, piece.is_none ? 0 : number, &piece);
    }
    xb_documents_close(&documents);
    if (count == 0)
        leave_out(batch, path, 0, "it is empty");
    if (count != 1 || failed(batch))
        return;
    batch->documents[batch->count - 1].origin.number = 0;
    batch->documents[batch->count - 1].line = 0;
}

/* Reads a file that can hold a document. Looks at its type first, because opening a device can make
 * it act. Opening a FIFO would wait for its writer, also after a signal: O_NONBLOCK leaves the
 * waiting to the stream. A regular file is opened without it: if a server of NFS or Samba has a
 * lease on the file, opening waits until that is given back. */
static void read_file(struct batch *batch, const char *path, bool pipes)
{
    struct stat file = {.st_mode = 0};
    bool is_there = stat(path, &file) == 0, is_pipe = pipes && S_ISFIFO(file.st_mode);
    if (is_there && !S_ISREG(file.st_mode) && !is_pipe) {
        leave_out(batch, path, S_ISDIR(file.st_mode) ? EISDIR : 0, "it is no regular file");
        return;
    }
    int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | (is_pipe ? O_NONBLOCK : 0);
    int descriptor = is_there ? open(path, flags) : -1;
    if (descriptor < 0) {
        leave_out(batch, path, errno, NULL);
        return;
    }
    read_stream(batch, path, descriptor);
    close(descriptor);
}

struct folder {
    struct batch *batch;
    bool any; /* file in it */
};

static bool take_entry(void *argument, const char *path, int code)
{
    struct folder *folder = argument;
    folder->any = true;
    if (code != 0)
        leave_out(folder->batch, path, code, NULL);
    else
        read_file(folder->batch, path, false);
    return !failed(folder->batch);
}

enum xb_status xb_fleet_read(struct xb_fleet *fleet, const char *path, struct xb_error *error)
{
    struct batch batch;
    struct stat file;
    begin(&batch, fleet);
    if (strcmp(path, "-") == 0) {
        read_stream(&batch, path, STDIN_FILENO);
    } else if (!failed(&batch) && stat(path, &file) == 0 && S_ISDIR(file.st_mode)) {
        struct folder folder = {.batch = &batch};
        xb_folder_each(path, take_entry, &folder);
        if (!failed(&batch) && !folder.any)
            leave_out(&batch, path, 0, "it has no file that ends with .json, .jsonl or .ndjson");
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
