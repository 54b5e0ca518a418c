/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE /* strsep */
/* From --transfer and --transfers to cases of existing modes, which are to run at the same time. */
#include "case.h"
#include "planning.h"

#include "base/file_text.h"
#include "base/memory.h"
#include "base/text.h"
#include "record/mode_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_TRANSFERS 64
#define LARGEST_FILE ((size_t)64 << 10)
#define BLANKS " \t\r"

const struct xb_mode xb_mode_set = {.name = "set", .variant = "transfers"};

/* Where a transfer begins or ends. */
struct end {
    bool is_host, has_number;
    unsigned number;
};

static bool read_end(const char *word, struct end *end)
{
    end->is_host = strncmp(word, "host", 4) == 0;
    const char *behind = word + (end->is_host ? 4 : strncmp(word, "gpu", 3) == 0 ? 3 : 0);
    end->has_number = *behind == ':';
    if (!end->has_number)
        return end->is_host && *behind == '\0';
    size_t digits = strspn(behind + 1, "0123456789");
    end->number = (unsigned)strtoul(behind + 1, NULL, 10);
    return behind > word && digits > 0 && digits <= 8 && behind[1 + digits] == '\0';
}

/* The case of a transfer between these ends: of the mode that makes such. */
static struct xb_case make_case(const struct xb_run_options *asked, const struct end *from,
                                const struct end *to, bool by_kernel)
{
    const struct end *host = from->is_host ? from : to;
    const bool is_pair = !host->is_host && from->number != to->number;
    struct xb_case test = {.direction = from->is_host ? XB_H2D
                                        : to->is_host ? XB_D2H
                                                      : XB_D2D,
                           .device = from->is_host ? to->number : from->number,
                           .peer = is_pair ? (int)to->number : XB_NO_PEER,
                           .has_node = host->is_host && host->has_number,
                           .asked = asked};
    test.node = test.has_node ? host->number : 0;
    for (const struct xb_mode *const *mode = xb_modes; test.variant == NULL; mode++) {
        test.mode = *mode;
        if ((*mode)->pairs == is_pair && ((*mode)->directions & test.direction) != 0)
            test.variant = by_kernel ? (*mode)->transfers.by_kernel : (*mode)->transfers.by_engine;
    }
    (void)xb_case_set(&test, 0, asked->config);
    for (size_t i = 0; i < test.setting_count; i++)
        if (strcmp(test.settings[i].option->name, "by") == 0)
            test.settings[i].word = by_kernel ? "kernel" : "engine";
    return test;
}

/* Adds the transfer of a line; `where` says what it is of. */
static enum xb_status add(const struct xb_run_options *asked, const char *where, const char *line,
                          struct xb_case **cases, size_t *count, struct xb_error *error)
{
    char from_word[32], to_word[32], size[32], by_word[8] = "by", by[16] = "engine", behind;
    struct end from, to;
    struct xb_error cause;
    int words = sscanf(line, " %31[^> \t] > %31s %31s %7s %15s %c", from_word, to_word, size,
                       by_word, by, &behind);
    bool by_kernel = strcmp(by, "kernel") == 0;
    if ((words != 3 && words != 5) || strcmp(by_word, "by") != 0 || !read_end(from_word, &from) ||
        !read_end(to_word, &to) || (!by_kernel && strcmp(by, "engine") != 0))
        return XB_FAIL(error, XB_ERR_USAGE,
                       "%s: \"%.80s\" is no transfer; write END > END SIZE, or that and by kernel, "
                       "such as 'host > gpu:0 1G'; an END is gpu:N, host, or host:N (a NUMA node)",
                       where, line);
    if (from.is_host && to.is_host)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "%s: \"%.80s\" is from host to host; name a GPU at one end", where, line);
    if (*count == MOST_TRANSFERS)
        return XB_FAIL(error, XB_ERR_USAGE, "%s: a set has %d transfers at most", where,
                       MOST_TRANSFERS);
    *cases = xb_grow(*cases, *count, sizeof **cases);
    struct xb_case *added = &(*cases)[*count];
    *added = make_case(asked, &from, &to, by_kernel);
    if (xb_size_parse(size, &added->bytes, &cause) != XB_OK)
        return XB_FAIL(error, XB_ERR_USAGE, "%s: \"%.80s\": %s", where, line, cause.message);
    (*count)++;
    return XB_OK;
}

/* Adds those of a file: one a line, but for empty lines and what stands behind #. */
static enum xb_status read_file(const struct xb_run_options *asked, struct xb_case **cases,
                                size_t *count, struct xb_error *error)
{
    char *text = NULL, where[160];
    size_t length = 0, before = *count;
    enum xb_status status =
        xb_file_text_read(asked->transfers, LARGEST_FILE, false, &text, &length, error);
    if (status == XB_OK && memchr(text, '\0', length) != NULL)
        status = XB_FAIL(error, XB_ERR_USAGE, "%s has zero bytes: no list of transfers",
                         asked->transfers);
    char *rest = text;
    for (unsigned number = 1; status == XB_OK && rest != NULL; number++) {
        char *line = strsep(&rest, "\n");
        line[strcspn(line, "#")] = '\0';
        snprintf(where, sizeof where, "%.120s, line %u", asked->transfers, number);
        if (line[strspn(line, BLANKS)] != '\0')
            status = add(asked, where, line, cases, count, error);
    }
    free(text);
    if (status == XB_OK && *count == before)
        return XB_FAIL(error, XB_ERR_USAGE, "%s has no transfers", asked->transfers);
    return status;
}

enum xb_status xb_set_read(const struct xb_run_options *asked, struct xb_case **cases,
                           size_t *count, struct xb_error *error)
{
    static const char idle[] = "mode,size,direction,device,numa,latency,simultaneous";
    if (asked->transfer.count == 0 && asked->transfers == NULL)
        return XB_OK;
    for (size_t i = 0; i < asked->config->count; i++) {
        const struct xb_value *value = &asked->config->values[i];
        const char *name = value->option->name;
        if (value->given && (xb_list_has(idle, name) || xb_modes_take(name)))
            return XB_FAIL(error, XB_ERR_USAGE,
                           "--%s has no effect beside --transfer and --transfers, which say what "
                           "is copied, and how; leave it out",
                           name);
    }
    for (size_t i = 0; i < asked->transfer.count; i++)
        XB_TRY(add(asked, "--transfer", asked->transfer.items[i], cases, count, error));
    return asked->transfers != NULL ? read_file(asked, cases, count, error) : XB_OK;
}
