/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "../../src/sinks/text.h"
#include "xferbench/link_report.h"

#include <cjson/cJSON.h>
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#define NASTY "a \"q\" | 'b' `c` $(d) \\ <e>;\nsecond\r\tline \xff\xc0 end \xe2\x82"
#define GPUS 2

typedef enum xb_status (*sink)(FILE *, const struct xb_link_report *, struct xb_error *);

static const struct {
    const char *name;
    sink write;
} sinks[] = {{"txt", xb_link_table_write},
             {"nagios", xb_link_nagios_write},
             {"nhc", xb_link_nhc_write},
             {"prom", xb_link_prometheus_write},
             {"json", xb_link_json_write}};
#define SINKS (sizeof sinks / sizeof sinks[0])

/* ---- reports made by hand ---- */

static const struct xb_backend backend = {.name = "cuda"};

struct node {
    struct xb_link_report report;
    struct xb_link_device devices[GPUS];
    struct xb_link_limits limits[GPUS];
    struct xb_verdict verdicts[GPUS];
    size_t best[GPUS];
};

static struct xb_pcie_end end_of(const char *bdf, double max_speed, unsigned max_width)
{
    struct xb_pcie_end end = {.vendor = 0x10de,
                              .link = {.known = true,
                                       .speed_gts = 2.5,
                                       .width = 16,
                                       .max_speed_gts = max_speed,
                                       .max_width = max_width},
                              .numa_node = 0,
                              .aer = {.known = true, .correctable = 7},
                              .control = {.known = true,
                                          .max_payload = 256,
                                          .max_payload_supported = 512,
                                          .max_read_request = 4096}};
    snprintf(end.bdf, sizeof end.bdf, "%s", bdf);
    snprintf(end.link.port, sizeof end.link.port, "%s", bdf);
    return end;
}

static struct xb_pcie_hop hop_of(const char *lower, const char *upper)
{
    return (struct xb_pcie_hop){
        .lower = end_of(lower, 32, 16), .upper = end_of(upper, 32, 16), .has_upper = true};
}

/* About what such a link can carry; the formula has tests of its own. */
static struct xb_ceiling ceiling_of(double speed, unsigned width)
{
    double share = speed * width / (32 * 16);
    return (struct xb_ceiling){.known = true,
                               .speed_gts = speed,
                               .width = width,
                               .raw = 63.02e9 * share,
                               .h2d = 58.1e9 * share,
                               .d2h = 57.4e9 * share,
                               .payload = 256,
                               .read_request = 4096};
}

/* A test in which the link ran at that speed and width. */
static void make_attempt(struct xb_link_attempt *attempt, const char *bdf, const char *port,
                         double speed, unsigned width)
{
    memset(attempt, 0, sizeof *attempt);
    attempt->at_rest = (struct xb_pcie_path){.present = true,
                                             .hops = {hop_of(bdf, port)},
                                             .count = 1,
                                             .numa_node = 0,
                                             .local_cpus = "0-15,32-47",
                                             .iommu_group = 12};
    attempt->after = attempt->at_rest;
    attempt->load = (struct xb_pcie_load){
        .hops = {{.readings = 40, .speed_gts = speed, .width = width, .changes = 1}}, .count = 1};
    attempt->h2d = 55.42e9;
    attempt->d2h = 55.31e9;
    attempt->health_before = (struct xb_device_health){.replays_known = true,
                                                       .replays = 5,
                                                       .clocks_known = true,
                                                       .sm_clock_mhz = 345,
                                                       .memory_clock_mhz = 3201,
                                                       .throttle_known = true,
                                                       .throttle = "idle",
                                                       .nvlinks_known = true,
                                                       .nvlinks_active = 18};
    attempt->health_after = attempt->health_before;
    attempt->health_after.sm_clock_mhz = 1980;
    attempt->health_after.throttle[0] = '\0';
}

/* What follows from an attempt. */
static void judge(struct xb_verdict *verdict, enum xb_level level, double speed, unsigned width,
                  const struct xb_link_attempt *attempt)
{
    memset(verdict, 0, sizeof *verdict);
    verdict->level = level;
    verdict->ceiling = ceiling_of(speed, width);
    verdict->h2d_share = attempt->h2d / verdict->ceiling.h2d;
    verdict->d2h_share = attempt->d2h / verdict->ceiling.d2h;
    verdict->warn_h2d = 0.9 * verdict->ceiling.h2d;
    verdict->warn_d2h = 0.9 * verdict->ceiling.d2h;
    verdict->min_h2d = 0.8 * verdict->ceiling.h2d;
    verdict->min_d2h = 0.8 * verdict->ceiling.d2h;
}

static void add_reason(struct xb_verdict *verdict, enum xb_level level, const char *code,
                       const char *text)
{
    struct xb_reason *reason = &verdict->reasons[verdict->reason_count++];
    reason->code = code;
    reason->level = level;
    snprintf(reason->text, sizeof reason->text, "%s", text);
}

static void make_device(struct node *n, size_t index, const char *bdf, const char *port)
{
    struct xb_link_device *device = &n->devices[index];
    device->info = (struct xb_device_info){.index = (unsigned)index,
                                           .name = "NVIDIA H200",
                                           .uuid = "GPU-1",
                                           .architecture = "sm_90",
                                           .memory_bytes = 150754820096};
    snprintf(device->info.pci_bdf, sizeof device->info.pci_bdf, "%s", bdf);
    device->attempt_count = 1;
    make_attempt(&device->attempts[0], bdf, port, 32, 16);
    judge(&n->verdicts[index], XB_LEVEL_OK, 32, 16, &device->attempts[0]);
}

/* One GPU, and nothing is wrong. */
static void make_healthy(struct node *n)
{
    make_device(n, 0, "0000:0f:00.0", "0000:0e:00.0");
    make_device(n, 1, "0000:1f:00.0", "0000:1e:00.0");
    n->report.device_count = 1;
    n->report.level = XB_LEVEL_OK;
}

/* GPU 0 is well, GPU 1 has lost half of its lanes and counts errors. */
static void make_critical(struct node *n)
{
    struct xb_link_attempt *attempt = &n->devices[1].attempts[0];
    make_healthy(n);
    n->report.device_count = 2;
    n->report.level = XB_LEVEL_CRITICAL;
    make_attempt(attempt, "0000:1f:00.0", "0000:1e:00.0", 32, 8);
    attempt->h2d = 27.1e9;
    attempt->d2h = 26.9e9;
    attempt->after.hops[0].upper.aer.correctable += 3;
    attempt->after.hops[0].lower.aer.nonfatal += 1;
    attempt->health_after.replays += 4;
    judge(&n->verdicts[1], XB_LEVEL_CRITICAL, 32, 8, attempt);
    add_reason(&n->verdicts[1], XB_LEVEL_CRITICAL, "XB-LINK-WIDTH",
               "x8 of x16 at 0000:1f:00.0: reseat the card or check bifurcation");
    add_reason(&n->verdicts[1], XB_LEVEL_WARNING, "XB-AER-CORRECTABLE", "3 at 0000:1e:00.0");
    add_reason(&n->verdicts[1], XB_LEVEL_WARNING, "XB-AER-CORRECTABLE", "1 at 0000:1f:00.0");
    n->limits[1].width = (struct xb_limit){true, 16, XB_LIMIT_FILE};
    n->limits[1].min_d2h = (struct xb_limit){true, 48e9, XB_LIMIT_COMMAND_LINE};
    n->verdicts[1].min_d2h = 48e9;
    n->verdicts[1].warn_d2h = 0;
}

/* No driver. */
static void make_nothing(struct node *n)
{
    n->report.backend = NULL;
    n->report.probe = (struct xb_probe){.check_count = 0};
    n->report.command = NULL;
    n->report.device_count = 0;
    n->report.level = XB_LEVEL_UNKNOWN;
    snprintf(n->report.nothing, sizeof n->report.nothing,
             "no backend can run: install the GPU's driver");
}

/* In a virtual machine: no bridge, nothing that only root of the host may read. */
static void make_vm(struct node *n)
{
    struct xb_link_attempt *attempt = &n->devices[0].attempts[0];
    make_healthy(n);
    for (size_t i = 0; i < 2; i++) {
        struct xb_pcie_path *path = i == 0 ? &attempt->at_rest : &attempt->after;
        memset(&path->hops[0].upper, 0, sizeof path->hops[0].upper);
        path->hops[0].has_upper = false;
        path->hops[0].lower.aer.known = false;
        path->hops[0].lower.control.known = false;
        path->numa_node = -1;
        path->local_cpus[0] = '\0';
        path->iommu_group = -1;
    }
    attempt->health_before = attempt->health_after = (struct xb_device_health){0};
    n->verdicts[0].ceiling.payload_assumed = n->verdicts[0].ceiling.read_request_assumed = true;
    n->verdicts[0].ceiling.read_request = 512;
}

/* The GPU's own link leads to the switch on its package only; above the slot is another switch. */
static void make_amd(struct node *n)
{
    struct xb_link_attempt *attempt = &n->devices[0].attempts[0];
    make_healthy(n);
    snprintf(n->devices[0].info.name, sizeof n->devices[0].info.name, "AMD Instinct MI210");
    struct xb_pcie_path *path = &attempt->at_rest;
    path->hops[0] = hop_of("0000:0f:00.0", "0000:0e:00.0");
    path->hops[0].on_package = true;
    path->hops[1] = hop_of("0000:0d:00.0", "0000:0c:00.0");
    path->hops[1].lower.link.max_speed_gts = 16;
    path->hops[1].upper.control.has_acs = path->hops[1].upper.control.acs_redirects = true;
    path->hops[2] = hop_of("0000:0b:00.0", "0000:0a:00.0");
    path->count = 3;
    attempt->after = *path;
    attempt->load = (struct xb_pcie_load){
        .hops = {{40, 32, 16, 0, 0}, {40, 16, 16, 2, 0}, {40, 32, 16, 0, 0}}, .count = 3};
    attempt->h2d = 26.4e9;
    attempt->d2h = 27.1e9;
    judge(&n->verdicts[0], XB_LEVEL_OK, 16, 16, attempt);
    n->verdicts[0].bottleneck = 1;
}

/* The third attempt was the good one. */
static void make_retried(struct node *n)
{
    struct xb_link_device *device = &n->devices[0];
    make_healthy(n);
    device->attempt_count = 3;
    device->attempts[2] = device->attempts[1] = device->attempts[0];
    device->attempts[0].h2d = 30e9;
    device->attempts[1].h2d = device->attempts[1].d2h = 0;
    snprintf(device->attempts[1].failure, sizeof device->attempts[1].failure,
             "out of memory: free some");
    device->attempts[0].after.hops[0].lower.aer.correctable += 2;
    device->attempts[1].after.hops[0].lower.aer.correctable = 0; /* reset, and nothing since */
    device->attempts[2].after.hops[0].lower.aer.correctable += 1;
    n->best[0] = 2;
    n->report.attempts_allowed = 5;
}

/* The deadline came: one device was not begun, and vanished besides. */
static void make_cut(struct node *n)
{
    make_healthy(n);
    n->report.device_count = 2;
    n->report.level = XB_LEVEL_UNKNOWN;
    n->report.cut = n->devices[1].cut = true;
    n->devices[1].attempt_count = 0;
    n->devices[1].info.pci_bdf[0] = '\0';
    memset(&n->verdicts[1], 0, sizeof n->verdicts[1]);
    n->verdicts[1].level = XB_LEVEL_UNKNOWN;
    add_reason(&n->verdicts[1], XB_LEVEL_UNKNOWN, "XB-DEADLINE", "the deadline came");
}

/* Texts that could break a format, wherever one comes from outside; and as much as there can be. */
static void make_nasty(struct node *n)
{
    make_critical(n);
    for (size_t i = 0; i < GPUS; i++) {
        struct xb_link_attempt *attempt = &n->devices[i].attempts[0];
        snprintf(n->devices[i].info.name, sizeof n->devices[i].info.name, NASTY);
        snprintf(attempt->failure, sizeof attempt->failure, NASTY);
        snprintf(attempt->health_after.throttle, sizeof attempt->health_after.throttle, NASTY);
        for (size_t j = 0; j < sizeof attempt->at_rest.local_cpus - 1; j++)
            attempt->at_rest.local_cpus[j] = "1000,"[j % 5];
        attempt->data_wrong = attempt->load.gone = true;
        attempt->load.hops[0] = (struct xb_pcie_seen){UINT_MAX, 123.456, UINT_MAX, UINT_MAX, 0};
        attempt->at_rest.hops[0].lower.link.speed_gts = 1.23456e-7;
        attempt->h2d = NAN;
        attempt->d2h = INFINITY;
        attempt->after.hops[0].lower.aer.fatal = UINT64_MAX;
        while (n->verdicts[i].reason_count < XB_VERDICT_REASONS)
            add_reason(&n->verdicts[i], XB_LEVEL_CRITICAL, "XB-DATA-WRONG", NASTY);
        n->verdicts[i].level = XB_LEVEL_CRITICAL;
        n->verdicts[i].ceiling.known = i == 1;
    }
    snprintf(n->report.probe.driver_version, sizeof n->report.probe.driver_version, NASTY);
    snprintf(n->report.nothing, sizeof n->report.nothing, NASTY);
    n->report.command = "xferbench link --device 'a|b'";
}

static const struct {
    const char *name;
    void (*make)(struct node *n);
} kinds[] = {{"healthy", make_healthy}, {"critical", make_critical}, {"nothing", make_nothing},
             {"vm", make_vm},           {"amd", make_amd},           {"retried", make_retried},
             {"cut", make_cut},         {"nasty", make_nasty}};
#define KINDS (sizeof kinds / sizeof kinds[0])

static int setup(void **state)
{
    struct node *n = calloc(1, sizeof *n);
    if (n == NULL)
        return 1;
    n->report = (struct xb_link_report){
        .backend = &backend,
        .probe = {.runtime_version = "13.0", .driver_version = "580.159.04", .device_count = 1},
        .command = "xferbench link",
        .devices = n->devices,
        .limits = n->limits,
        .verdicts = n->verdicts,
        .best = n->best,
        .attempts_allowed = 3,
        .deadline = 50};
    *state = n;
    return 0;
}

static int teardown(void **state)
{
    free(*state);
    return 0;
}

static char *written(sink write, const struct node *n)
{
    char *text = NULL;
    size_t size = 0;
    struct xb_error error;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    assert_int_equal(write(stream, &n->report, &error), XB_OK);
    assert_int_equal(fclose(stream), 0);
    assert_int_equal(strlen(text), size);
    return text;
}

static void assert_written(sink write, const struct node *n, const char *expected)
{
    char *text = written(write, n);
    assert_string_equal(text, expected);
    free(text);
}

static void assert_has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("no '%s' in:\n%s", part, text);
}

static void assert_has_not(const char *text, const char *part)
{
    if (strstr(text, part) != NULL)
        fail_msg("'%s' in:\n%s", part, text);
}

/* ---- Nagios ---- */

/* An unsigned decimal number. */
static const char *skip_number(const char *c)
{
    assert_true(isdigit((unsigned char)*c));
    while (isdigit((unsigned char)*c))
        c++;
    if (*c != '.')
        return c;
    assert_true(isdigit((unsigned char)*++c));
    while (isdigit((unsigned char)*c))
        c++;
    return c;
}

/* 'label'=value;warn;crit;min;max with thresholds that are empty or "48:". */
static const char *skip_entry(const char *c)
{
    assert_int_equal(*c++, '\'');
    const char *label = c;
    while (isalnum((unsigned char)*c) || *c == '_')
        c++;
    assert_true(c > label);
    assert_int_equal(*c++, '\'');
    assert_int_equal(*c++, '=');
    c = skip_number(c);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(*c++, ';');
        if (*c != ';') {
            c = skip_number(c);
            assert_int_equal(*c++, ':');
        }
    }
    assert_memory_equal(c, ";0;", 3);
    c += 3;
    return isdigit((unsigned char)*c) ? skip_number(c) : c;
}

/* What is wrong with a line ends the test; returns how many entries of data it has. */
static size_t check_nagios(const char *text)
{
    static const char *const begin[] = {"XFERBENCH LINK OK - ", "XFERBENCH LINK WARNING - ",
                                        "XFERBENCH LINK CRITICAL - ", "XFERBENCH LINK UNKNOWN - "};
    size_t known = 0;
    size_t count = 0;
    for (size_t i = 0; i < 4; i++)
        known += strncmp(text, begin[i], strlen(begin[i])) == 0;
    assert_int_equal(known, 1);
    const char *c = text;
    for (; *c != '|' && *c != '\n'; c++)
        assert_true(*c >= ' ' && *c <= '~' && strchr("'\"`$<>&\\", *c) == NULL);
    if (*c == '|')
        assert_int_equal(*++c, ' ');
    while (*c == ' ') {
        c = skip_entry(c + 1);
        count++;
    }
    assert_string_equal(c, "\n");
    return count;
}

static void nagios_of_a_healthy_gpu(void **state)
{
    struct node *n = *state;
    make_healthy(n);
    assert_written(xb_link_nagios_write, n,
                   "XFERBENCH LINK OK - 1 GPU: Gen5 x16, H2D 55.4, D2H 55.3 GB/s |"
                   " 'gpu0_h2d_GBps'=55.420;52.290:;46.480:;0;58.100"
                   " 'gpu0_d2h_GBps'=55.310;51.660:;45.920:;0;57.400"
                   " 'gpu0_width'=16;;;0;16 'gpu0_generation'=5;;;0;5"
                   " 'gpu0_replays'=0;;;0; 'gpu0_aer_correctable'=0;;;0;"
                   " 'gpu0_aer_nonfatal'=0;;;0; 'gpu0_aer_fatal'=0;;;0;\n");
}

static void nagios_tells_the_worst_first(void **state)
{
    struct node *n = *state;
    make_critical(n);
    n->verdicts[0].level = XB_LEVEL_WARNING;
    add_reason(&n->verdicts[0], XB_LEVEL_WARNING, "XB-BW-H2D", "slow | 'really'");
    char *text = written(xb_link_nagios_write, n);
    check_nagios(text);
    assert_has(text, "XFERBENCH LINK CRITICAL - 2 of 2 GPUs: GPU 1 0000:1f:00.0 CRITICAL "
                     "XB-LINK-WIDTH (x8 of x16 at 0000:1f:00.0: reseat the card or check "
                     "bifurcation), XB-AER-CORRECTABLE; "
                     "GPU 0 0000:0f:00.0 WARNING XB-BW-H2D (slow / really) | ");
    assert_has(text, " 'gpu1_d2h_GBps'=26.900;;48.000:;0;");
    assert_has(text, " 'gpu1_width'=8;;16:;0;16 'gpu1_generation'=5;;;0;5 'gpu1_replays'=4;;;0; "
                     "'gpu1_aer_correctable'=3;;;0; 'gpu1_aer_nonfatal'=1;;;0;");
    free(text);
}

static void nagios_sums_up_what_is_well(void **state)
{
    struct node *n = *state;
    make_healthy(n);
    n->report.device_count = 2;
    char *text = written(xb_link_nagios_write, n);
    assert_has(text, " - 2 GPUs: Gen5 x16, H2D 55.4, D2H 55.3 GB/s |");
    free(text);
    n->devices[1].attempts[0].load.hops[0].speed_gts = 16;
    n->devices[1].attempts[0].h2d = 26.4e9;
    text = written(xb_link_nagios_write, n);
    assert_has(text, " - 2 GPUs: 1 of Gen5 x16, 1 of Gen4 x16, H2D 26.4 to 55.4, D2H 55.3 GB/s |");
    free(text);
}

static void nagios_without_a_device_has_no_data(void **state)
{
    struct node *n = *state;
    make_nothing(n);
    assert_written(xb_link_nagios_write, n,
                   "XFERBENCH LINK UNKNOWN - no backend can run: install the GPUs driver\n");
}

static void nagios_limits_the_link_at_the_slot_only(void **state)
{
    struct node *n = *state;
    make_amd(n);
    n->limits[0].width = (struct xb_limit){true, 8, XB_LIMIT_FILE};
    char *text = written(xb_link_nagios_write, n);
    assert_has(text, "'gpu0_width'=16;;8:;0;16 'gpu0_generation'=4;;;0;4");
    free(text);
    n->verdicts[0].bottleneck = 2;
    text = written(xb_link_nagios_write, n);
    assert_has(text, "'gpu0_width'=16;;;0;16 'gpu0_generation'=5;;;0;5");
    free(text);
}

static void nagios_keeps_its_grammar(void **state)
{
    static const size_t entries[KINDS] = {8, 16, 0, 4, 8, 8, 8, 10};
    (void)state;
    for (size_t i = 0; i < KINDS; i++) {
        void *made = NULL;
        assert_int_equal(setup(&made), 0);
        struct node *n = made;
        kinds[i].make(n);
        char *text = written(xb_link_nagios_write, n);
        if (check_nagios(text) != entries[i])
            fail_msg("%s: %s", kinds[i].name, text);
        free(text);
        teardown(&made);
    }
}

/* ---- NHC ---- */

static void nhc_is_silent_only_when_all_is_well(void **state)
{
    struct node *n = *state;
    make_healthy(n);
    assert_written(xb_link_nhc_write, n, "");
    n->report.level = n->verdicts[0].level = XB_LEVEL_WARNING;
    add_reason(&n->verdicts[0], XB_LEVEL_WARNING, "XB-BW-H2D", "slow");
    assert_written(xb_link_nhc_write, n, "xferbench link WARNING: GPU 0 0000:0f:00.0 XB-BW-H2D\n");
    make_nothing(n);
    assert_written(xb_link_nhc_write, n,
                   "xferbench link UNKNOWN: no backend can run: install the GPUs driver\n");
}

static void nhc_names_the_codes(void **state)
{
    struct node *n = *state;
    make_critical(n);
    assert_written(
        xb_link_nhc_write, n,
        "xferbench link CRITICAL: GPU 1 0000:1f:00.0 XB-LINK-WIDTH XB-AER-CORRECTABLE\n");
    make_cut(n);
    assert_written(xb_link_nhc_write, n, "xferbench link UNKNOWN: GPU 1 XB-DEADLINE\n");
}

static void nhc_gives_a_shell_nothing_to_do(void **state)
{
    struct node *n = *state;
    make_nasty(n);
    char *text = written(xb_link_nhc_write, n);
    assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
    assert_null(strpbrk(text, "'\"`$\\|&<>\r\t"));
    free(text);
}

/* ---- Prometheus ---- */

static const char *skip_name(const char *c)
{
    assert_true(isalpha((unsigned char)*c) || *c == '_');
    while (isalnum((unsigned char)*c) || *c == '_')
        c++;
    return c;
}

static const char *skip_labels(const char *c)
{
    assert_int_equal(*c, '{');
    do {
        c = skip_name(c + 1);
        assert_memory_equal(c, "=\"", 2);
        for (c += 2; *c != '"'; c++) {
            assert_true((unsigned char)*c >= ' ');
            if (*c == '\\')
                assert_non_null(strchr("\\\"n", *++c));
        }
        c++;
    } while (*c == ',');
    assert_int_equal(*c, '}');
    return c + 1;
}

/* One line behind its family's HELP and TYPE: a sample. Nothing may stand behind the value. */
static void check_sample(const char *line, const char *family)
{
    const char *c = skip_name(line);
    assert_int_equal((size_t)(c - line), strlen(family));
    assert_memory_equal(line, family, strlen(family));
    if (*c == '{')
        c = skip_labels(c);
    assert_int_equal(*c++, ' ');
    char *end = NULL;
    assert_true(isfinite(strtod(c, &end)));
    assert_ptr_not_equal(c, end);
    assert_string_equal(end, "");
}

static bool is_utf8(const char *text)
{
    while (xb_utf8_length(text) > 0)
        text += xb_utf8_length(text);
    return *text == '\0';
}

/* Whether the line's name and labels stand in one of the `count` lines. */
static bool is_repeated(char *const *lines, size_t count, const char *line)
{
    size_t length = (size_t)(strrchr(line, ' ') - line) + 1;
    for (size_t i = 0; i < count; i++)
        if (strncmp(lines[i], line, length) == 0)
            return true;
    return false;
}

#define LINES 512

static void check_prometheus(char *text)
{
    char *lines[LINES];
    size_t count = 0;
    char family[128] = "";
    char *rest = NULL;
    assert_true(is_utf8(text));
    assert_int_equal(text[strlen(text) - 1], '\n');
    for (char *line = strtok_r(text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        assert_true(count < LINES);
        assert_false(is_repeated(lines, count, line)); /* a family begins once */
        lines[count++] = line;
        if (strncmp(line, "# HELP ", 7) == 0) {
            const char *end = skip_name(line + 7);
            snprintf(family, sizeof family, "%.*s", (int)(end - line - 7), line + 7);
            assert_true(end[0] == ' ' && end[1] > ' ');
            for (size_t i = 0; i + 1 < count; i++)
                assert_false(strncmp(lines[i], line, (size_t)(end - line) + 1) == 0);
        } else if (strncmp(line, "# TYPE ", 7) == 0) {
            char type[160];
            snprintf(type, sizeof type, "# TYPE %s gauge", family);
            assert_string_equal(line, type);
            assert_memory_equal(lines[count - 2], "# HELP ", 7);
        } else {
            check_sample(line, family);
        }
    }
}

static void prometheus_of_two_gpus(void **state)
{
    struct node *n = *state;
    time_t before = time(NULL);
    make_critical(n);
    char *text = written(xb_link_prometheus_write, n);
    assert_has(text,
               "\nxferbench_link_status{gpu=\"0\",pci=\"0000:0f:00.0\",name=\"NVIDIA H200\"} 0\n"
               "xferbench_link_status{gpu=\"1\",pci=\"0000:1f:00.0\",name=\"NVIDIA H200\"} 2\n");
    assert_has(text, "\nxferbench_link_node_status 2\n");
#define GPU1 "{gpu=\"1\",pci=\"0000:1f:00.0\""
    assert_has(text, "\nxferbench_link_reason" GPU1 ",code=\"XB-LINK-WIDTH\"} 1\n"
                     "xferbench_link_reason" GPU1 ",code=\"XB-AER-CORRECTABLE\"} 1\n# ");
    assert_has(text, "\nxferbench_link_bandwidth_bytes_per_second" GPU1
                     ",direction=\"h2d\"} 27100000000\n");
    assert_has(text, "\nxferbench_link_bandwidth_bytes_per_second" GPU1
                     ",direction=\"d2h\"} 26900000000\n");
    assert_has(text, "\nxferbench_link_ceiling_bytes_per_second" GPU1
                     ",direction=\"h2d\"} 29050000000\n");
    assert_has(text, "\nxferbench_link_ceiling_bytes_per_second" GPU1
                     ",direction=\"d2h\"} 28700000000\n");
    assert_has(text, "\nxferbench_link_limit_bytes_per_second" GPU1
                     ",direction=\"h2d\",level=\"warning\"} 26145000000\n");
    assert_has(text, "\nxferbench_link_limit_bytes_per_second" GPU1
                     ",direction=\"h2d\",level=\"critical\"} 23240000000\n");
    assert_has_not(text, GPU1 ",direction=\"d2h\",level=\"warning\"}");
    assert_has(text, "\nxferbench_link_limit_bytes_per_second" GPU1
                     ",direction=\"d2h\",level=\"critical\"} 48000000000\n");
    assert_has(text, "\nxferbench_link_width_lanes" GPU1 "} 8\n");
    assert_has(text, "\nxferbench_link_speed_transfers_per_second" GPU1 "} 32000000000\n");
    assert_has(text, "\nxferbench_link_aer_errors" GPU1
                     ",hop=\"0\",end=\"lower\",port=\"0000:1f:00.0\",severity=\"nonfatal\"} 1\n");
    assert_has(text,
               "\nxferbench_link_aer_errors" GPU1
               ",hop=\"0\",end=\"upper\",port=\"0000:1e:00.0\",severity=\"correctable\"} 3\n");
    assert_has(text, "\nxferbench_link_replays" GPU1 "} 4\n");
    const char *stamp = strstr(text, "\nxferbench_link_test_timestamp_seconds ");
    assert_non_null(stamp);
    double at = strtod(strrchr(strtok(strdupa(stamp + 1), "\n"), ' '), NULL);
    assert_true(at >= (double)before && at <= (double)time(NULL));
    free(text);
}

static void prometheus_leaves_out_what_is_not_known(void **state)
{
    static const char *const always[] = {"xferbench_link_node_status",
                                         "xferbench_link_test_timestamp_seconds"};
    struct node *n = *state;
    make_vm(n);
    char *text = written(xb_link_prometheus_write, n);
    assert_has_not(text, "aer_errors");
    assert_has_not(text, "replays");
    assert_has_not(text, "reason");
    assert_has(text, "ceiling");
    free(text);
    make_nothing(n);
    text = written(xb_link_prometheus_write, n);
    size_t lines = 0;
    for (const char *c = text; *c != '\0'; c++)
        lines += *c == '\n';
    assert_int_equal(lines, 6);
    for (size_t i = 0; i < 2; i++)
        assert_has(text, always[i]);
    assert_has(text, "\nxferbench_link_node_status 3\n");
    free(text);
}

static void prometheus_escapes_labels(void **state)
{
    struct node *n = *state;
    make_healthy(n);
    snprintf(n->devices[0].info.name, sizeof n->devices[0].info.name, "a\"b\\c\nd\xff\xc2\xae\r");
    char *text = written(xb_link_prometheus_write, n);
    assert_has(text, ",name=\"a\\\"b\\\\c\\nd\xEF\xBF\xBD\xc2\xae \"} 0\n");
    free(text);
}

static void prometheus_keeps_its_grammar(void **state)
{
    (void)state;
    for (size_t i = 0; i < KINDS; i++) {
        void *made = NULL;
        assert_int_equal(setup(&made), 0);
        struct node *n = made;
        kinds[i].make(n);
        char *text = written(xb_link_prometheus_write, n);
        check_prometheus(text);
        free(text);
        teardown(&made);
    }
}

/* ---- the table ---- */

static void table_is_plain_and_narrow(void **state)
{
    (void)state;
    for (size_t i = 0; i < KINDS; i++) {
        void *made = NULL;
        assert_int_equal(setup(&made), 0);
        struct node *n = made;
        kinds[i].make(n);
        char *text = written(xb_link_table_write, n);
        size_t width = 0;
        for (const char *c = text; *c != '\0'; c++) {
            assert_true((*c >= ' ' && *c <= '~') || *c == '\n');
            width = *c == '\n' ? 0 : width + 1;
            if (width > 100)
                fail_msg("%s:\n%s", kinds[i].name, text);
            assert_false(*c == '\n' && c > text && c[-1] == ' ');
        }
        free(text);
        teardown(&made);
    }
}

static void table_of_a_healthy_gpu(void **state)
{
    struct node *n = *state;
    make_healthy(n);
    char *text = written(xb_link_table_write, n);
    assert_has(text,
               "link, backend cuda, runtime 13.0, driver 580.159.04\n\n"
               "Device 0: NVIDIA H200, 0000:0f:00.0\n"
               "  verdict  OK\n"
               "  path     LINK, device first           UNDER LOAD  BEST      AT REST\n"
               "           0000:0f:00.0 - 0000:0e:00.0  Gen5 x16    Gen5 x16  Gen1 x16  1 change\n"
               "  errors   none counted during the test (AER)\n"
               "  packets  payload 256 bytes (read), read request 4096 bytes (read)\n"
               "  ceiling  H2D 58.10, D2H 57.40 GB/s; raw 63.02 GB/s each way (Gen5 x16)\n"
               "  H2D      55.42 GB/s, 95.4 % of the ceiling; warning below 52.29; critical "
               "below 46.48\n"
               "  D2H      55.31 GB/s, 96.4 % of the ceiling; warning below 51.66; critical "
               "below 45.92\n"
               "  limits   H2D: default; D2H: default; link: what both its ends can do\n"
               "  NUMA     node 0, CPUs 0-15, 32-47\n"
               "  IOMMU    group 12\n"
               "  clocks   SM 345 before, 1980 MHz after; memory 3201 before, 3201 MHz after\n"
               "  slowed   no\n"
               "  replays  5 before, 5 after; 0 in all attempts\n"
               "  NVLink   18 active, 0 inactive\n\n"
               "Node: OK\n");
    assert_string_equal(strstr(text, "Node: OK"), "Node: OK\n");
    free(text);
}

static void table_of_a_bad_gpu(void **state)
{
    struct node *n = *state;
    make_critical(n);
    char *text = written(xb_link_table_write, n);
    assert_has(text,
               "Device 1: NVIDIA H200, 0000:1f:00.0\n"
               "  verdict  CRITICAL\n"
               "  CRITICAL XB-LINK-WIDTH: x8 of x16 at 0000:1f:00.0: reseat the card or check "
               "bifurcation\n"
               "  WARNING  XB-AER-CORRECTABLE: 3 at 0000:1e:00.0\n");
    assert_has(text, "  Gen5 x8     Gen5 x16  Gen1 x16  1 change\n");
    assert_has(text,
               "  errors   0000:1f:00.0: 0 correctable, 1 non-fatal, 0 fatal; 0000:1e:00.0: 3 "
               "correctable, 0\n           non-fatal, 0 fatal\n");
    assert_has(text, "  limits   H2D: default; D2H: command line; x16: file\n");
    assert_has(text, "\nNode: CRITICAL\n  devices  1 of 2 OK\n  next     do what stands");
    free(text);
}

static void table_without_devices(void **state)
{
    struct node *n = *state;
    make_nothing(n);
    char *text = written(xb_link_table_write, n);
    assert_has(text, " link\n\nNode: UNKNOWN\n"
                     "  reason   no backend can run: install the GPU's driver\n"
                     "  next     see what 'xferbench list' finds, put that right, and run this "
                     "again: xferbench link\n");
    free(text);
}

static void table_of_a_virtual_machine(void **state)
{
    struct node *n = *state;
    make_vm(n);
    char *text = written(xb_link_table_write, n);
    assert_has(text, "0000:0f:00.0 - (no bridge seen)  Gen5 x16 ");
    assert_has(text, "payload 256 bytes (assumed), read request 512 bytes (assumed)\n");
    assert_has(text, "  errors   not known: no port shows AER counters\n");
    assert_has(text, "  NUMA     no node is named\n  IOMMU    no group\n");
    assert_has_not(text, "  clocks ");
    assert_has_not(text, "  replays ");
    assert_has_not(text, "  NVLink ");
    assert_has_not(text, "  ACS ");
    free(text);
}

static void table_of_a_gpu_behind_switches(void **state)
{
    struct node *n = *state;
    make_amd(n);
    char *text = written(xb_link_table_write, n);
    assert_has(text, "0000:0f:00.0 - 0000:0e:00.0  Gen5 x16    Gen5 x16  Gen1 x16  on package\n");
    assert_has(
        text,
        "0000:0d:00.0 - 0000:0c:00.0  Gen4 x16    Gen4 x16  Gen1 x16  bottleneck, 2 changes\n");
    assert_has(text, "0000:0b:00.0 - 0000:0a:00.0  Gen5 x16    Gen5 x16  Gen1 x16\n");
    assert_has(text, "  ACS      peers' transfers go up to the root at 0000:0c:00.0\n");
    free(text);
}

static void table_tells_of_every_attempt(void **state)
{
    struct node *n = *state;
    make_retried(n);
    char *text = written(xb_link_table_write, n);
    assert_has(text, "  attempt  1: Gen5 x16, H2D 30.00 GB/s, D2H 55.31 GB/s\n"
                     "  attempt  2: Gen5 x16, H2D not measured, D2H not measured; out of memory: "
                     "free some\n"
                     "  attempt  3 (judged): Gen5 x16, H2D 55.42 GB/s, D2H 55.31 GB/s\n");
    assert_has(text, "  errors   0000:0f:00.0: 3 correctable, 0 non-fatal, 0 fatal\n");
    free(text);
    n->devices[0].attempts[0].after.present = false;
    text = written(xb_link_table_write, n);
    assert_has(text, "D2H 55.31 GB/s, THE DEVICE VANISHED\n");
    assert_has(text, "  errors   0000:0f:00.0: 1 correctable");
    free(text);
}

static void table_tells_what_was_cut(void **state)
{
    struct node *n = *state;
    make_cut(n);
    char *text = written(xb_link_table_write, n);
    assert_has(text,
               "Device 1: NVIDIA H200\n  verdict  UNKNOWN\n  UNKNOWN  XB-DEADLINE: the deadline "
               "came\n  cut      the deadline came before all was tried\n\nNode: UNKNOWN\n");
    assert_has(text, "  next     give it more time (--deadline)");
    free(text);
}

/* ---- JSON ---- */

/* Follows a path such as "devices.0.name"; what is not there ends the test. */
static const cJSON *at(const cJSON *item, const char *path)
{
    char copy[160];
    char *rest = NULL;
    snprintf(copy, sizeof copy, "%s", path);
    for (char *key = strtok_r(copy, ".", &rest); key != NULL; key = strtok_r(NULL, ".", &rest)) {
        item = cJSON_IsArray(item) ? cJSON_GetArrayItem(item, atoi(key))
                                   : cJSON_GetObjectItemCaseSensitive(item, key);
        if (item == NULL)
            fail_msg("there is no '%s'", path);
    }
    return item;
}

static void assert_text_at(const cJSON *root, const char *path, const char *text)
{
    assert_true(cJSON_IsString(at(root, path)));
    assert_string_equal(at(root, path)->valuestring, text);
}

static void assert_number_at(const cJSON *root, const char *path, double value)
{
    if (!cJSON_IsNumber(at(root, path)) || at(root, path)->valuedouble != value)
        fail_msg("%s is %g, not %g", path, at(root, path)->valuedouble, value);
}

static void assert_null_at(const cJSON *root, const char *path)
{
    assert_true(cJSON_IsNull(at(root, path)));
}

static cJSON *parsed(const struct node *n)
{
    char *text = written(xb_link_json_write, n);
    assert_true(is_utf8(text));
    cJSON *root = cJSON_Parse(text);
    assert_non_null(root);
    free(text);
    return root;
}

static void json_tells_of_the_node(void **state)
{
    struct node *n = *state;
    make_critical(n);
    cJSON *root = parsed(n);
    assert_text_at(root, "schema", "xferbench.link");
    assert_number_at(root, "schema_version", 1);
    assert_text_at(root, "tool.name", "xferbench");
    assert_text_at(root, "command", "xferbench link");
    assert_text_at(root, "backend.name", "cuda");
    assert_text_at(root, "level", "CRITICAL");
    assert_null_at(root, "nothing_tested");
    assert_number_at(root, "attempts_allowed", 3);
    assert_number_at(root, "deadline_s", 50);
    assert_true(cJSON_IsFalse(at(root, "cut")));
    assert_null_at(root, "config");
    assert_int_equal(cJSON_GetArraySize(at(root, "devices")), 2);
    cJSON_Delete(root);
    make_nothing(n);
    root = parsed(n);
    assert_null_at(root, "backend");
    assert_null_at(root, "command");
    assert_text_at(root, "level", "UNKNOWN");
    assert_text_at(root, "nothing_tested", "no backend can run: install the GPU's driver");
    assert_int_equal(cJSON_GetArraySize(at(root, "devices")), 0);
    cJSON_Delete(root);
}

static void json_tells_of_the_verdict(void **state)
{
    struct node *n = *state;
    make_critical(n);
    cJSON *root = parsed(n);
    const cJSON *verdict = at(root, "devices.1.verdict");
    assert_text_at(verdict, "level", "CRITICAL");
    assert_int_equal(cJSON_GetArraySize(at(verdict, "reasons")), 3);
    assert_text_at(verdict, "reasons.0.code", "XB-LINK-WIDTH");
    assert_text_at(verdict, "reasons.1.level", "WARNING");
    assert_text_at(verdict, "reasons.2.text", "1 at 0000:1f:00.0");
    assert_number_at(verdict, "attempt", 0);
    assert_number_at(verdict, "bottleneck", 0);
    assert_number_at(verdict, "ceiling.speed_gts", 32);
    assert_number_at(verdict, "ceiling.width", 8);
    assert_number_at(verdict, "ceiling.payload_bytes", 256);
    assert_number_at(verdict, "ceiling.read_request_bytes", 4096);
    assert_number_at(verdict, "ceiling.h2d_bytes_per_second", n->verdicts[1].ceiling.h2d);
    assert_number_at(verdict, "ceiling.d2h_bytes_per_second", n->verdicts[1].ceiling.d2h);
    assert_number_at(verdict, "ceiling.raw_bytes_per_second", n->verdicts[1].ceiling.raw);
    assert_true(cJSON_IsFalse(at(verdict, "ceiling.payload_assumed")));
    assert_number_at(verdict, "h2d_share", n->verdicts[1].h2d_share);
    assert_number_at(verdict, "d2h_share", n->verdicts[1].d2h_share);
    assert_number_at(verdict, "limits.h2d.warning_below_bytes_per_second", n->verdicts[1].warn_h2d);
    assert_text_at(verdict, "limits.h2d.source", "default");
    assert_null_at(verdict, "limits.d2h.warning_below_bytes_per_second");
    assert_number_at(verdict, "limits.d2h.critical_below_bytes_per_second", 48e9);
    assert_text_at(verdict, "limits.d2h.source", "command line");
    assert_number_at(verdict, "limits.width.value", 16);
    assert_text_at(verdict, "limits.width.source", "file");
    assert_null_at(verdict, "limits.generation");
    assert_null_at(verdict, "limits.warn_share");
    cJSON_Delete(root);
}

static void json_keeps_every_attempt(void **state)
{
    struct node *n = *state;
    make_retried(n);
    cJSON *root = parsed(n);
    assert_int_equal(cJSON_GetArraySize(at(root, "devices.0.attempts")), 3);
    assert_number_at(root, "devices.0.verdict.attempt", 2);
    assert_null_at(root, "devices.0.attempts.1.h2d_bytes_per_second");
    assert_text_at(root, "devices.0.attempts.1.failure", "out of memory: free some");
    const cJSON *attempt = at(root, "devices.0.attempts.0");
    assert_number_at(attempt, "h2d_bytes_per_second", 30e9);
    assert_null_at(attempt, "failure");
    assert_true(cJSON_IsFalse(at(attempt, "data_wrong")));
    assert_text_at(attempt, "at_rest.local_cpus", "0-15,32-47");
    assert_number_at(attempt, "at_rest.iommu_group", 12);
    assert_number_at(attempt, "at_rest.numa_node", 0);
    assert_text_at(attempt, "at_rest.hops.0.upper.bdf", "0000:0e:00.0");
    assert_number_at(attempt, "at_rest.hops.0.lower.vendor", 0x10de);
    assert_number_at(attempt, "at_rest.hops.0.lower.link.speed_gts", 2.5);
    assert_number_at(attempt, "at_rest.hops.0.lower.link.max_width", 16);
    assert_number_at(attempt, "at_rest.hops.0.lower.aer.correctable", 7);
    assert_number_at(attempt, "after.hops.0.lower.aer.correctable", 9);
    assert_number_at(attempt, "at_rest.hops.0.lower.control.max_payload_supported_bytes", 512);
    assert_number_at(attempt, "under_load.hops.0.readings", 40);
    assert_number_at(attempt, "under_load.hops.0.speed_gts", 32);
    assert_number_at(attempt, "under_load.hops.0.changes", 1);
    assert_true(cJSON_IsFalse(at(attempt, "under_load.gone")));
    assert_number_at(attempt, "health_before.sm_clock_mhz", 345);
    assert_text_at(attempt, "health_before.throttle", "idle");
    assert_text_at(attempt, "health_after.throttle", "");
    assert_number_at(attempt, "health_after.nvlinks_active", 18);
    assert_null_at(attempt, "health_after.nvlink_errors");
    cJSON_Delete(root);
}

static void json_has_null_for_what_is_not_known(void **state)
{
    struct node *n = *state;
    make_vm(n);
    n->devices[0].attempts[0].after.present = false;
    n->devices[0].attempts[0].load.hops[0] = (struct xb_pcie_seen){0};
    n->verdicts[0].ceiling.known = false;
    n->report.deadline = 0;
    cJSON *root = parsed(n);
    const cJSON *attempt = at(root, "devices.0.attempts.0");
    assert_null_at(root, "deadline_s");
    assert_null_at(root, "devices.0.verdict.ceiling");
    assert_null_at(attempt, "at_rest.hops.0.upper");
    assert_null_at(attempt, "at_rest.hops.0.lower.aer");
    assert_null_at(attempt, "at_rest.hops.0.lower.control");
    assert_null_at(attempt, "at_rest.numa_node");
    assert_null_at(attempt, "at_rest.local_cpus");
    assert_null_at(attempt, "at_rest.iommu_group");
    assert_null_at(attempt, "after");
    assert_null_at(attempt, "under_load.hops.0.speed_gts");
    assert_null_at(attempt, "under_load.hops.0.width");
    assert_null_at(attempt, "health_after.replays");
    assert_null_at(attempt, "health_after.throttle");
    assert_null_at(attempt, "health_after.slowed_by_hardware");
    cJSON_Delete(root);
    make_cut(n);
    root = parsed(n);
    assert_null_at(root, "devices.1.verdict.attempt");
    assert_null_at(root, "devices.1.verdict.bottleneck");
    assert_null_at(root, "devices.1.pci_bdf");
    assert_true(cJSON_IsTrue(at(root, "devices.1.cut")));
    cJSON_Delete(root);
}

static size_t allocations_left;
static size_t allocations_open;

static void *failing_malloc(size_t size)
{
    if (allocations_left == 0)
        return NULL;
    allocations_left--;
    allocations_open++;
    return malloc(size);
}

static void counting_free(void *memory)
{
    allocations_open -= memory != NULL;
    free(memory);
}

static void json_survives_every_failed_allocation(void **state)
{
    struct node *n = *state;
    cJSON_Hooks hooks = {failing_malloc, counting_free};
    enum xb_status status = XB_ERR_MEMORY;
    size_t tried = 0;
    make_amd(n);
    cJSON_InitHooks(&hooks);
    for (; status != XB_OK; tried++) {
        struct xb_error error = {0};
        char *text = NULL;
        size_t size = 0;
        FILE *stream = open_memstream(&text, &size);
        assert_non_null(stream);
        allocations_left = tried;
        status = xb_link_json_write(stream, &n->report, &error);
        fclose(stream);
        free(text);
        assert_int_equal(allocations_open, 0);
        assert_int_equal(status, status == XB_OK ? XB_OK : XB_ERR_MEMORY);
        assert_true(status == XB_OK || size == 0);
    }
    cJSON_InitHooks(NULL);
    assert_true(tried > 300);
}

/* ---- all formats ---- */

/* Counts past the arrays' ends are not believed. */
static void counts_are_not_believed(void **state)
{
    struct node *n = *state;
    make_critical(n);
    for (size_t i = 0; i < GPUS; i++) {
        n->devices[i].attempts[0].at_rest.count = n->devices[i].attempts[0].after.count = 1000;
        n->devices[i].attempts[0].load.count = 1000;
        n->devices[i].attempt_count = 1000;
        n->verdicts[i].reason_count = XB_VERDICT_REASONS;
        n->verdicts[i].bottleneck = 1000;
        for (size_t j = 0; j < XB_VERDICT_REASONS; j++)
            n->verdicts[i].reasons[j].code = "XB-X";
        n->verdicts[i].reason_count = 1000;
    }
    n->best[1] = 1000;
    for (size_t i = 0; i < SINKS; i++)
        free(written(sinks[i].write, n));
}

static void sinks_report_a_full_disk(void **state)
{
    struct node *n = *state;
    make_critical(n);
    for (size_t i = 0; i < SINKS; i++) {
        for (int buffered = 0; buffered < 2; buffered++) {
            struct xb_error error = {0};
            FILE *full = fopen("/dev/full", "w");
            assert_non_null(full);
            if (!buffered)
                setvbuf(full, NULL, _IONBF, 0);
            assert_int_equal(sinks[i].write(full, &n->report, &error), XB_ERR_SYSTEM);
            assert_int_equal(error.native_code, ENOSPC);
            fclose(full);
        }
    }
}

static void sinks_do_not_follow_the_locale(void **state)
{
    struct node *n = *state;
    make_critical(n);
    if (setlocale(LC_ALL, "de_DE.UTF-8") == NULL)
        skip();
    for (size_t i = 0; i < SINKS; i++) {
        char *text = written(sinks[i].write, n);
        setlocale(LC_ALL, "C");
        if (sinks[i].write != xb_link_json_write && sinks[i].write != xb_link_prometheus_write)
            assert_written(sinks[i].write, n, text);
        assert_has_not(text, ",42");
        free(text);
        setlocale(LC_ALL, "de_DE.UTF-8");
    }
    setlocale(LC_ALL, "C");
}

/* `test_link_sinks DIRECTORY` writes every report in every format, as KIND.FORMAT: to be held
 * against the schema, to be checked by others' tools, and to be looked at. */
static int write_examples(const char *directory)
{
    int failed = 0;
    for (size_t i = 0; i < KINDS * SINKS; i++) {
        char path[512];
        struct xb_error error;
        void *made = NULL;
        if (setup(&made) != 0)
            return 1;
        kinds[i / SINKS].make(made);
        snprintf(path, sizeof path, "%s/%s.%s", directory, kinds[i / SINKS].name,
                 sinks[i % SINKS].name);
        FILE *file = fopen(path, "w");
        if (file == NULL)
            return 1;
        failed |= sinks[i % SINKS].write(file, &((struct node *)made)->report, &error) != XB_OK;
        failed |= fclose(file) != 0;
        teardown(&made);
    }
    return failed;
}

int main(int argc, char **argv)
{
#define RUN_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        RUN_TEST(nagios_of_a_healthy_gpu),
        RUN_TEST(nagios_tells_the_worst_first),
        RUN_TEST(nagios_sums_up_what_is_well),
        RUN_TEST(nagios_without_a_device_has_no_data),
        RUN_TEST(nagios_limits_the_link_at_the_slot_only),
        RUN_TEST(nagios_keeps_its_grammar),
        RUN_TEST(nhc_is_silent_only_when_all_is_well),
        RUN_TEST(nhc_names_the_codes),
        RUN_TEST(nhc_gives_a_shell_nothing_to_do),
        RUN_TEST(prometheus_of_two_gpus),
        RUN_TEST(prometheus_leaves_out_what_is_not_known),
        RUN_TEST(prometheus_escapes_labels),
        RUN_TEST(prometheus_keeps_its_grammar),
        RUN_TEST(table_is_plain_and_narrow),
        RUN_TEST(table_of_a_healthy_gpu),
        RUN_TEST(table_of_a_bad_gpu),
        RUN_TEST(table_without_devices),
        RUN_TEST(table_of_a_virtual_machine),
        RUN_TEST(table_of_a_gpu_behind_switches),
        RUN_TEST(table_tells_of_every_attempt),
        RUN_TEST(table_tells_what_was_cut),
        RUN_TEST(json_tells_of_the_node),
        RUN_TEST(json_tells_of_the_verdict),
        RUN_TEST(json_keeps_every_attempt),
        RUN_TEST(json_has_null_for_what_is_not_known),
        RUN_TEST(json_survives_every_failed_allocation),
        RUN_TEST(counts_are_not_believed),
        RUN_TEST(sinks_report_a_full_disk),
        RUN_TEST(sinks_do_not_follow_the_locale),
    };
    if (argc == 2)
        return write_examples(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
