/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "finish.h"
#include "link_facts.h"

#include "text.h"

#include <time.h>

/*
 * The text exposition format (Prometheus documentation, "Exposition formats"): a family of samples
 * begins with its HELP and TYPE, once, and all its samples stand together. So each family goes over
 * all devices.
 */

struct family {
    FILE *stream;
    const char *name, *help;
    bool begun;
};

struct label {
    const char *name, *value;
};

/* UTF-8 in which the characters that could end a value are escaped. */
static void put_value(FILE *stream, const char *text)
{
    while (*text != '\0') {
        size_t length = xb_utf8_length(text);
        if (length == 0)
            fputs(XB_UTF8_REPLACEMENT, stream);
        else if (*text == '\n')
            fputs("\\n", stream);
        else if (*text == '"' || *text == '\\')
            fprintf(stream, "\\%c", *text);
        else if (length == 1 && (unsigned char)*text < ' ')
            fputc(' ', stream);
        else
            fwrite(text, 1, length, stream);
        text += length > 0 ? length : 1;
    }
}

static void put_label(FILE *stream, char before, const char *name, const char *value)
{
    fprintf(stream, "%c%s=\"", before, name);
    put_value(stream, value);
    fputc('"', stream);
}

static void begin(struct family *family)
{
    if (!family->begun)
        fprintf(family->stream, "# HELP %s %s\n# TYPE %s gauge\n", family->name, family->help,
                family->name);
    family->begun = true;
    fputs(family->name, family->stream);
}

/* A sample of a device. `labels` ends with one that has no name. */
static void put_sample(struct family *family, const struct xb_device_info *gpu,
                       const struct label *labels, double value)
{
    char text[32];
    begin(family);
    snprintf(text, sizeof text, "%u", gpu->index);
    put_label(family->stream, '{', "gpu", text);
    put_label(family->stream, ',', "pci", gpu->pci_bdf);
    for (; labels->name != NULL; labels++)
        put_label(family->stream, ',', labels->name, labels->value);
    fprintf(family->stream, "} %s\n", xb_number_text(value, text, sizeof text));
}

/* Nothing for what is not known. */
static void put_known(struct family *family, const struct xb_device_info *gpu,
                      const struct label *labels, double value)
{
    if (xb_link_known(value))
        put_sample(family, gpu, labels, value);
}

#define LABELS(...) ((const struct label[]){__VA_ARGS__, {NULL, NULL}})
#define NO_LABEL ((const struct label[]){{NULL, NULL}})
#define TO LABELS({"direction", "h2d"})
#define FROM LABELS({"direction", "d2h"})

/* ---- a function a family: what one device has to say ---- */

static void put_status(struct family *family, const struct xb_link_report *report, size_t device)
{
    const struct xb_device_info *gpu = &report->devices[device].info;
    put_sample(family, gpu, LABELS({"name", gpu->name}), (double)report->verdicts[device].level);
}

/* A code may have several reasons; a sample may not appear twice. */
static void put_reasons(struct family *family, const struct xb_link_report *report, size_t device)
{
    const struct xb_verdict *verdict = &report->verdicts[device];
    for (size_t i = 0; i < verdict->reason_count && i < XB_VERDICT_REASONS; i++) {
        if (xb_link_first_of_code(verdict, i))
            put_sample(family, &report->devices[device].info,
                       LABELS({"code", verdict->reasons[i].code}), 1);
    }
}

static void put_bandwidth(struct family *family, const struct xb_link_report *report, size_t device)
{
    const struct xb_link_attempt *attempt = xb_link_judged(report, device);
    const struct xb_device_info *gpu = &report->devices[device].info;
    if (attempt == NULL)
        return;
    put_known(family, gpu, TO, attempt->h2d);
    put_known(family, gpu, FROM, attempt->d2h);
}

static void put_ceiling(struct family *family, const struct xb_link_report *report, size_t device)
{
    const struct xb_ceiling *ceiling = &report->verdicts[device].ceiling;
    const struct xb_device_info *gpu = &report->devices[device].info;
    if (!ceiling->known)
        return;
    put_known(family, gpu, TO, ceiling->h2d);
    put_known(family, gpu, FROM, ceiling->d2h);
}

static void put_limits(struct family *family, const struct xb_link_report *report, size_t device)
{
    const struct xb_verdict *verdict = &report->verdicts[device];
    const struct xb_device_info *gpu = &report->devices[device].info;
    put_known(family, gpu, LABELS({"direction", "h2d"}, {"level", "warning"}), verdict->warn_h2d);
    put_known(family, gpu, LABELS({"direction", "h2d"}, {"level", "critical"}), verdict->min_h2d);
    put_known(family, gpu, LABELS({"direction", "d2h"}, {"level", "warning"}), verdict->warn_d2h);
    put_known(family, gpu, LABELS({"direction", "d2h"}, {"level", "critical"}), verdict->min_d2h);
}

static void put_width(struct family *family, const struct xb_link_report *report, size_t device)
{
    const struct xb_pcie_seen *seen = xb_link_bottleneck(report, device);
    if (seen != NULL)
        put_sample(family, &report->devices[device].info, NO_LABEL, seen->width);
}

static void put_speed(struct family *family, const struct xb_link_report *report, size_t device)
{
    const struct xb_pcie_seen *seen = xb_link_bottleneck(report, device);
    if (seen != NULL)
        put_sample(family, &report->devices[device].info, NO_LABEL, seen->speed_gts * 1e9);
}

static void put_end_errors(struct family *family, const struct xb_link_device *device, size_t hop,
                           bool upper)
{
    const struct xb_pcie_hop *shown = NULL;
    struct xb_pcie_aer errors = xb_link_errors_at(device, hop, upper);
    char place[32];
    for (size_t i = 0; shown == NULL && i < xb_link_attempts(device); i++)
        if (hop < xb_link_hops(&device->attempts[i].at_rest))
            shown = &device->attempts[i].at_rest.hops[hop];
    if (!errors.known || shown == NULL)
        return;
    const char *port = upper ? shown->upper.bdf : shown->lower.bdf;
    snprintf(place, sizeof place, "%zu", hop);
    const struct {
        const char *severity;
        uint64_t count;
    } kinds[] = {{"correctable", errors.correctable},
                 {"nonfatal", errors.nonfatal},
                 {"fatal", errors.fatal}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        put_sample(family, &device->info,
                   LABELS({"hop", place}, {"end", upper ? "upper" : "lower"}, {"port", port},
                          {"severity", kinds[i].severity}),
                   (double)kinds[i].count);
}

static void put_errors(struct family *family, const struct xb_link_report *report, size_t device)
{
    const struct xb_link_device *tested = &report->devices[device];
    for (size_t i = 0; i < xb_link_hops_of(tested); i++) {
        put_end_errors(family, tested, i, false);
        put_end_errors(family, tested, i, true);
    }
}

static void put_replays(struct family *family, const struct xb_link_report *report, size_t device)
{
    uint64_t replays;
    if (xb_link_replays(&report->devices[device], &replays))
        put_sample(family, &report->devices[device].info, NO_LABEL, (double)replays);
}

static const struct {
    const char *name, *help;
    void (*put)(struct family *family, const struct xb_link_report *report, size_t device);
} families[] = {
    {"xferbench_link_status", "Verdict on the link: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN.",
     put_status},
    {"xferbench_link_reason", "1 for each code that the verdict gives as a reason.", put_reasons},
    {"xferbench_link_bandwidth_bytes_per_second", "Median of verified pinned copies.",
     put_bandwidth},
    {"xferbench_link_ceiling_bytes_per_second",
     "What the link that limits the path can carry of a program's data.", put_ceiling},
    {"xferbench_link_limit_bytes_per_second", "Bandwidth below which the level is reached.",
     put_limits},
    {"xferbench_link_width_lanes", "Lanes under load of the link that limits the path.", put_width},
    {"xferbench_link_speed_transfers_per_second",
     "Rate of a lane under load of the link that limits the path.", put_speed},
    {"xferbench_link_aer_errors",
     "PCIe errors that a port counted during the test; hop 0 is the device's own link.",
     put_errors},
    {"xferbench_link_replays", "PCIe packets that the device sent again during the test.",
     put_replays},
};

static void put_node(FILE *stream, const char *name, const char *help, long long value)
{
    struct family family = {.stream = stream, .name = name, .help = help};
    begin(&family);
    fprintf(stream, " %lld\n", value);
}

enum xb_status xb_link_prometheus_write(FILE *stream, const struct xb_link_report *report,
                                        struct xb_error *error)
{
    locale_t previous = xb_plain_locale_enter();
    put_node(stream, "xferbench_link_node_status",
             "The worst verdict of the node: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN.",
             (long long)report->level);
    put_node(stream, "xferbench_link_test_timestamp_seconds",
             "When the test ended, in seconds since 1970.", (long long)time(NULL));
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        struct family family = {
            .stream = stream, .name = families[i].name, .help = families[i].help};
        for (size_t j = 0; j < report->device_count; j++)
            families[i].put(&family, report, j);
    }
    enum xb_status status = xb_sink_finish(stream, "the metrics", error);
    xb_plain_locale_leave(previous);
    return status;
}
