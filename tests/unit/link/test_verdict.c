/* SPDX-License-Identifier: Apache-2.0 */
/* Verdicts on devices and pairs: texts beside this file, whose verbs change a healthy node. */
#include "cases.h"
#include "fields.h"
#include "link/report.h"
#include "random.h"
#include "rows.h"

#include <inttypes.h>
#include <math.h>

#define NVLINKS 18u
#define NVLINK_RATE 26.5625e9
#define WAYS "h2d,d2h"

/* ---- a healthy node: H200s with all links, behind an NVSwitch ---- */

#define DEVICES 8u
#define PAIRS (DEVICES * (DEVICES - 1))
static struct xb_link_device devices[DEVICES];
static struct xb_verdict verdicts[DEVICES];
static struct xb_link_pair pairs[PAIRS];
static struct xb_pair_verdict pair_verdicts[PAIRS];
static struct xb_link_report node = {
    .devices = devices, .verdicts = verdicts, .pairs = pairs, .pair_verdicts = pair_verdicts};

static struct xb_pcie_end make_end(const char *bdf, double speed, unsigned width)
{
    struct xb_pcie_end end = {.vendor = 0x10de,
                              .link = {.known = true,
                                       .speed_gts = 2.5, /* at rest */
                                       .width = width,
                                       .max_speed_gts = speed,
                                       .max_width = width},
                              .numa_node = -1,
                              .aer = {.known = true},
                              .control = {true, 256, 256, 4096, false, false, 0}};
    snprintf(end.bdf, sizeof end.bdf, "%.15s", bdf);
    return end;
}

/* From the device up: 0f, 0e, 0c, 0b ... */
static void make_hop(struct xb_link_attempt *attempt, size_t index, struct xb_lanes best,
                     struct xb_lanes seen)
{
    char lower[16], upper[16];
    struct xb_pcie_path *path = &attempt->at_rest;
    snprintf(lower, sizeof lower, "0000:%02x:00.0", (15 - 3 * (unsigned)index) & 0xff);
    snprintf(upper, sizeof upper, "0000:%02x:00.0", (14 - 3 * (unsigned)index) & 0xff);
    path->hops[index] = (struct xb_pcie_hop){.lower = make_end(lower, best.speed_gts, best.width),
                                             .upper = make_end(upper, best.speed_gts, best.width),
                                             .has_upper = true};
    path->present = true;
    path->count = attempt->load.count = path->count > index ? path->count : index + 1;
    attempt->after = *path;
    attempt->load.hops[index] = (struct xb_pcie_seen){100, seen.speed_gts, seen.width, 0, 0};
}

static struct xb_link_attempt healthy(void)
{
    struct xb_link_attempt attempt = {.rates = {55.4e9, 55.3e9}, .health_seconds = 1};
    struct xb_device_health *health = &attempt.health_before;
    make_hop(&attempt, 0, (struct xb_lanes){32, 16}, (struct xb_lanes){32, 16});
    *health = (struct xb_device_health){.replays_known = true,
                                        .throttle_known = true,
                                        .nvlinks_known = true,
                                        .nvlinks_active = NVLINKS};
    for (size_t i = 0; i < NVLINKS; i++)
        health->nvlinks[i] = (struct xb_nvlink){
            .known = true, .active = true, .rate = 26.562e9, .counted = {true, true, false, true}};
    for (size_t i = 0; i < XB_PCIE_COUNTERS; i++) {
        health->counted[i] = true;
        health->counts[i] = 10; /* before the test */
    }
    attempt.health_after = *health;
    for (size_t i = 0; i < 2; i++) /* an idle machine: bench/results/h200/link-idle.json */
        attempt.conditions[i] = (struct xb_link_conditions){.seconds = 0.15,
                                                            .cpus = 16,
                                                            .cpus_busy = 0.2,
                                                            .load_s = 140e-9,
                                                            .traffic_known = true,
                                                            .sent = i == 0 ? 5.2e9 : 60.2e9,
                                                            .received = i == 0 ? 59.5e9 : 0,
                                                            .clocks.memory_clock_mhz = 3201,
                                                            .clocks.memory_clock_best_mhz = 3201,
                                                            .mean = 55.3e9,
                                                            .fastest = 55.5e9};
    return attempt;
}

static void make_node(size_t device_count, size_t attempts)
{
    const struct xb_peer_info reach = {
        .can_access = true, .link = "NVLink", .links = NVLINKS, .link_rate = NVLINK_RATE};
    memset(devices, 0, sizeof devices);
    memset(verdicts, 0, sizeof verdicts);
    memset(pairs, 0, sizeof pairs);
    node.device_count = device_count;
    node.pair_count = 0;
    for (size_t i = 0; i < device_count; i++) {
        devices[i].info = (struct xb_device_info){.index = (unsigned)i,
                                                  .name = "NVIDIA H200",
                                                  .pci_bdf = "0000:0f:00.0",
                                                  .architecture = "sm_90"};
        devices[i].attempt_count = attempts;
        for (size_t j = 0; j < attempts; j++)
            devices[i].attempts[j] = healthy();
        for (size_t j = 0; j < device_count; j++)
            if (i != j)
                pairs[node.pair_count++] =
                    (struct xb_link_pair){.from = i,
                                          .to = j,
                                          .attempts = {{true, reach, reach, 396e9, false, ""}},
                                          .attempt_count = 1};
    }
}

/* ---- verbs that change it ---- */

static void begin(void)
{
    make_node(1, 1);
}

static void run_devices(UNTOLD, char **words)
{
    make_node((size_t)number_of(words[1]), 1);
}

static void run_attempts(UNTOLD, char **words)
{
    make_node(1, (size_t)number_of(words[1]));
}

#define EACH_ATTEMPT(attempt, list)                                                                \
    for (struct xb_link_device *device = devices; device < devices + node.device_count; device++)  \
        for (struct xb_link_attempt *attempt = device->attempts;                                   \
             attempt < device->attempts + device->attempt_count; attempt++)                        \
            if (list_has(list, (size_t)(attempt - device->attempts)))

/* Members of all attempts. */
static void run_set(UNTOLD, char **words)
{
    char path[200];
    for (char **word = words + 1; *word != NULL; word++)
        for (size_t i = 0; i < node.device_count; i++) {
            snprintf(path, sizeof path, "attempts.*.%s", *word);
            set_field(xb_link_device_fields, &devices[i], path);
        }
}

static const struct xb_field device_fields[] = {
    XB_FIELD("name", TEXT, struct xb_link_device, info.name),
    XB_FIELD("bdf", TEXT, struct xb_link_device, info.pci_bdf),
    XB_FIELD("architecture", TEXT, struct xb_link_device, info.architecture),
    XB_FIELD("shares_host_memory", FLAG, struct xb_link_device, info.shares_host_memory),
    XB_FIELD("coherent_with_host", FLAG, struct xb_link_device, info.coherent_with_host),
    XB_FIELD("attempt_count", SIZE, struct xb_link_device, attempt_count),
    XB_FIELD("cut", FLAG, struct xb_link_device, cut),
    XB_FIELD("interrupted", FLAG, struct xb_link_device, interrupted),
    XB_FIELD("missing", FLAG, struct xb_link_device, missing),
    XB_FIELDS_END};
static const struct xb_field pair_fields[] = {
    XB_FIELD("attempt_count", SIZE, struct xb_link_pair, attempt_count),
    XB_FIELD("cut", FLAG, struct xb_link_pair, cut),
    XB_FIELD("interrupted", FLAG, struct xb_link_pair, interrupted), XB_FIELDS_END};
#define COUNTER(key, number)                                                                       \
    XB_FIELD(key, COUNTER, struct xb_nvlink, counts[number],                                       \
             XB_KNOWN(struct xb_nvlink, counted[number]))
static const struct xb_field nvlink_fields[] = {
    XB_FIELD("known", FLAG, struct xb_nvlink, known),
    XB_FIELD("active", FLAG, struct xb_nvlink, active),
    XB_FIELD("rate", DOUBLE, struct xb_nvlink, rate),
    COUNTER("replays", XB_NVLINK_REPLAYS),
    COUNTER("recoveries", XB_NVLINK_RECOVERIES),
    COUNTER("failed_recoveries", XB_NVLINK_FAILED_RECOVERIES),
    COUNTER("crc_errors", XB_NVLINK_CRC_ERRORS),
    XB_FIELDS_END};

/* device LIST MEMBER...; pair LIST MEMBER... */
static void run_device(UNTOLD, char **words)
{
    for (size_t i = 0; i < node.device_count; i++)
        for (char **word = words + 2; list_has(words[1], i) && *word != NULL; word++)
            set_field(strncmp(*word, "attempts", 8) == 0 || strncmp(*word, "peers", 5) == 0 ||
                              strncmp(*word, "setup", 5) == 0
                          ? xb_link_device_fields
                          : device_fields,
                      &devices[i], *word);
}

static void run_pair(UNTOLD, char **words)
{
    for (size_t i = 0; i < node.pair_count; i++)
        for (char **word = words + 2; list_has(words[1], i) && *word != NULL; word++)
            set_field(strchr(*word, '.') != NULL ? xb_link_pair_fields : pair_fields, &pairs[i],
                      *word);
}

/* of LIST MEMBER...: the pairs from and to these devices. */
static void run_pairs_of(UNTOLD, char **words)
{
    for (size_t i = 0; i < node.pair_count; i++)
        if (list_has(words[1], pairs[i].from) || list_has(words[1], pairs[i].to))
            set_fields(xb_link_pair_fields, &pairs[i], words + 2);
}

/* nvlink before|after|both LIST MEMBER...: of each attempt. */
static void run_nvlink(UNTOLD, char **words)
{
    EACH_ATTEMPT(attempt, "*")
    for (size_t i = 0; i < XB_NVLINKS; i++)
        if (list_has(words[2], i)) {
            if (words[1][0] != 'a')
                set_fields(nvlink_fields, &attempt->health_before.nvlinks[i], words + 3);
            if (words[1][0] != 'b' || words[1][1] == 'o')
                set_fields(nvlink_fields, &attempt->health_after.nvlinks[i], words + 3);
        }
}

/* links LIST ACTIVE: so many NVLinks of these devices are up, and as many carry their copies. */
static void run_links(UNTOLD, char **words)
{
    unsigned active = (unsigned)number_of(words[2]);
    for (size_t i = 0; i < node.device_count; i++) {
        struct xb_link_attempt *attempt = &devices[i].attempts[0];
        if (!list_has(words[1], i))
            continue;
        attempt->health_before.nvlinks_active = attempt->health_after.nvlinks_active = active;
        for (size_t j = 0; j < node.pair_count; j++) {
            if (pairs[j].from == i)
                pairs[j].attempts[0].there.links = active;
            if (pairs[j].to == i)
                pairs[j].attempts[0].back.links = active;
        }
    }
}

static struct xb_lanes lanes_of(const char *text) /* 32x16 */
{
    char *end;
    double speed = strtod(text, &end);
    return (struct xb_lanes){speed, (unsigned)number_of(end + 1)};
}

/* hop INDEX BEST [SEEN] [attempts=LIST] */
static void run_hop(UNTOLD, char **words)
{
    EACH_ATTEMPT(attempt, value_of(words, "attempts"))
    make_hop(attempt, (size_t)number_of(words[1]), lanes_of(words[2]),
             lanes_of(words[3] != NULL && strchr("123456789", words[3][0]) != NULL ? words[3]
                                                                                   : words[2]));
}

/* Bytes per second: a number, or "ceiling*0.9", of what the link can carry. "-": just below. */
static double rate_of(const char *text, const struct xb_link_attempt *attempt, size_t way)
{
    const struct xb_pcie_seen *seen = &attempt->load.hops[0];
    struct xb_ceiling ceiling =
        xb_ceiling_of(seen->speed_gts, seen->width, &attempt->at_rest.hops[0].lower.control);
    char own[40];
    const char *factor = strchr(text, '*');
    bool is_below = text[strlen(text) - 1] == '-';
    double of = factor == NULL     ? 1
                : text[0] == 'r'   ? ceiling.raw
                : text[0] == 'm'   ? ceiling.most
                : way == XB_TO_GPU ? ceiling.h2d
                                   : ceiling.d2h;
    snprintf(own, sizeof own, "%s", factor != NULL ? factor + 1 : text);
    own[strlen(own) - is_below] = '\0';
    double rate = number_of(own) * of;
    return is_below ? nextafter(rate, 0) : rate;
}

/* rate|slow h2d|d2h|both RATE [attempts=LIST]: slow copies were so all the time. */
static void run_rate(UNTOLD, char **words)
{
    EACH_ATTEMPT(attempt, value_of(words, "attempts"))
    for (size_t i = 0; i < XB_LINK_WAYS; i++) {
        struct xb_link_conditions *seen = &attempt->conditions[i];
        if (strcmp(words[1], "both") != 0 && strcmp(words[1], item_of(WAYS, i)) != 0)
            continue;
        double rate = attempt->rates[i] = rate_of(words[2], attempt, i);
        if (strcmp(words[0], "rate") == 0)
            continue;
        seen->mean = seen->fastest = rate;
        seen->sent = (i == XB_BACK ? 1.08 : 0.09) * rate; /* with headers; requests */
        seen->received = (i == XB_BACK ? 0 : 1.08) * rate;
    }
}

/* What became of attempts: again LIST, which begin anew; nothing LIST, in which nothing was read;
 * unwatched, in which nobody watched the links, whatever stands where readings would be; steady,
 * after which paths are what they were before. */
static void run_attempt(UNTOLD, char **words)
{
    EACH_ATTEMPT(attempt, words[1])
    {
        if (strcmp(words[0], "again") == 0)
            *attempt = healthy();
        else if (strcmp(words[0], "nothing") == 0)
            memset(attempt, 0, sizeof *attempt);
        else if (strcmp(words[0], "unwatched") == 0)
            attempt->load.count = 0;
        else
            attempt->after = attempt->at_rest;
    }
}

/* limit NAME [VALUE SOURCE] [devices=LIST]. Without a value it is the default's again. */
static void run_limit(UNTOLD, char **words)
{
    static const char names[] =
        "min_h2d,min_d2h,min_peer,warn_share,critical_share,generation,width";
    const char *list = value_of(words, "devices");
    for (size_t i = 0; i < node.device_count; i++)
        for (size_t j = 0; j < 7; j++)
            if (list_has(list, i) && strcmp(item_of(names, j), words[1]) == 0)
                verdicts[i].limits.all[j] =
                    words[2] == NULL
                        ? (struct xb_limit){.is_set = false}
                        : (struct xb_limit){true, number_of(words[2]),
                                            strcmp(words[3], "file") == 0 ? XB_LIMIT_FILE
                                                                          : XB_LIMIT_COMMAND_LINE};
}

/* expect WHAT: in place of what was expected before. */
static void run_expect(UNTOLD, char **words)
{
    struct xb_error error;
    verdicts[0].limits = (struct xb_link_limits){.min_h2d.is_set = false};
    assert_int_equal(xb_expect_parse(words[1], XB_LIMIT_COMMAND_LINE, &verdicts[0].limits, &error),
                     XB_OK);
}

/* accept CODE: of all devices. */
static void run_accept(UNTOLD, char **words)
{
    struct xb_error error;
    for (size_t i = 0; i < node.device_count; i++)
        assert_int_equal(
            xb_accept(words[1], "by design", XB_LIMIT_COMMAND_LINE, &verdicts[i].limits, &error),
            XB_OK);
}

/* was [h2d=RATE] [d2h=RATE] [lanes=32x16] [nvlinks=COUNT]: when the node was accepted. */
static void run_was(UNTOLD, char **words)
{
    const char *lanes = value_of(words, "lanes");
    for (size_t i = 0; i < node.device_count; i++)
        verdicts[i].limits.was =
            (struct xb_link_was){.known = true,
                                 .load = lanes_of(lanes != NULL ? lanes : "0 0"),
                                 .rates = {number_or(words, "h2d", 0), number_or(words, "d2h", 0)},
                                 .nvlinks = (unsigned)number_or(words, "nvlinks", 0)};
}

/* ---- what is told ---- */

static void judge(void)
{
    struct xb_link_limits limits[DEVICES];
    for (size_t i = 0; i < node.device_count; i++)
        limits[i] = verdicts[i].limits;
    memset(verdicts, 0xa5, sizeof verdicts); /* what was there before does not count */
    memset(pair_verdicts, 0xa5, sizeof pair_verdicts);
    for (size_t i = 0; i < node.device_count; i++)
        verdicts[i].limits = limits[i];
    xb_verdict_of_node(&node);
}

static void tell_found(FILE *told, const char *of, const struct xb_findings *found)
{
    for (size_t i = 0; i < found->reason_count; i++)
        fprintf(told, "%s%s%s %s: %s\n", of, found->reasons[i].accepted != NULL ? "accepted " : "",
                xb_level_name(found->reasons[i].level), found->reasons[i].code,
                found->reasons[i].text);
    bool counts = found->reason_count > 0 && found->reasons[0].accepted == NULL;
    if (found->level != (counts ? found->reasons[0].level : XB_LEVEL_OK))
        fprintf(told, "%s in all\n", xb_level_name(found->level));
}

static void tell(FILE *told, NO_WORDS)
{
    char of[40];
    judge();
    fprintf(told, "%s\n", xb_level_name(node.level));
    for (size_t i = 0; i < node.device_count; i++) {
        const struct xb_verdict *verdict = &verdicts[i];
        snprintf(of, sizeof of, node.device_count > 1 ? "  device %zu: " : "  ", i);
        tell_found(told, of, &verdict->found);
        if (verdict->best > 0)
            fprintf(told, "%sattempt %zu counts\n", of, verdict->best);
        if (verdict->bottleneck > 0)
            fprintf(told, "%shop %zu limits it\n", of, verdict->bottleneck);
        bool is_open = xb_verdict_is_open(&devices[i], verdict);
        if (is_open != (verdict->found.level != XB_LEVEL_OK))
            fprintf(told, "%s%s attempt may tell more\n", of, is_open ? "another" : "no other");
    }
    for (size_t i = 0; i < node.pair_count; i++) {
        snprintf(of, sizeof of, "  pair %zu: ", i);
        tell_found(told, of, &pair_verdicts[i].found);
        if (pair_verdicts[i].best > 0)
            fprintf(told, "%sattempt %zu counts\n", of, pair_verdicts[i].best);
        if (!xb_pair_is_judged(&pair_verdicts[i]))
            fprintf(told, "%sis not judged\n", of);
    }
}

static void tell_direction(FILE *told, const char *name, const struct xb_link_direction *way)
{
    fprintf(told, "%s %.4g GB/s, share %.3f, warns below %.4g, critical below %.4g (%s)%s\n", name,
            way->measured / 1e9, way->share, way->warning / 1e9, way->critical / 1e9,
            xb_limit_source_name(way->source), way->is_slow ? ", slow" : "");
}

/* What else the verdict has. */
static void tell_ways(FILE *told, NO_WORDS)
{
    const struct xb_ceiling *ceiling = &verdicts[0].ceiling;
    judge();
    for (size_t i = 0; i < XB_LINK_WAYS; i++)
        tell_direction(told, item_of(WAYS, i), &verdicts[0].ways[i]);
    fprintf(told, "%s carries %.4g and %.4g GB/s with packets of %u%s and requests of %u%s\n",
            ceiling->known ? XB_LANES_TEXT(ceiling->speed_gts, ceiling->width)
                           : "what is not known",
            ceiling->h2d / 1e9, ceiling->d2h / 1e9, ceiling->payload,
            ceiling->payload_assumed ? " (assumed)" : "", ceiling->read_request,
            ceiling->read_request_assumed ? " (assumed)" : "");
}

static void tell_pair(FILE *told, char **words)
{
    const struct xb_pair_verdict *verdict = &pair_verdicts[(size_t)number_of(words[1])];
    judge();
    tell_direction(told, "pair", &verdict->bandwidth);
    fprintf(told, "%u links carry %.4g GB/s; %zu pairs are like it, with %.4g GB/s\n",
            verdict->reach.links, verdict->ceiling / 1e9, verdict->like_count, verdict->like / 1e9);
}

static void tell_lanes(FILE *told, const char *what, struct xb_lanes lanes)
{
    fprintf(told, " %s %gx%u", what, lanes.speed_gts, lanes.width);
}

static struct xb_link_facts facts; /* large */

/* tell-links|tell-counts ATTEMPT: what is found while this attempt counts. */
static void find_facts(char **words)
{
    memset(&facts, 0xa5, sizeof facts);
    xb_link_facts_find(&devices[0], (size_t)number_of(words[1]), &facts);
}

static void tell_links(FILE *told, char **words)
{
    find_facts(words);
    for (size_t i = 0; i < facts.hop_count; i++) {
        const struct xb_link_hop *hop = &facts.hops[i];
        fprintf(told, "%s to %s%s%s:", hop->lower, hop->has_upper ? hop->upper : "nobody",
                hop->on_package ? " on the package" : "", i == facts.slot ? " in the slot" : "");
        tell_lanes(told, "at rest", hop->at_rest);
        tell_lanes(told, "load", hop->load);
        tell_lanes(told, "best", hop->best);
        fprintf(told, ", %u changes, %u drops\n", hop->changes, hop->drops);
    }
    for (size_t i = 0; i < facts.port_count; i++) {
        const struct xb_link_port *port = &facts.ports[i];
        fprintf(told, "port %s, %s of hop %zu: ", port->bdf, port->is_upper ? "upper" : "lower",
                port->hop);
        if (port->errors.known)
            fprintf(told, "%" PRIu64 " correctable (%" PRIu64 " at once), %" PRIu64 " fatal\n",
                    port->errors.correctable, port->most_correctable, port->errors.fatal);
        else
            fputs("errors not known\n", told);
    }
    if (facts.errors.known)
        fprintf(told, "errors: %" PRIu64 " correctable, %" PRIu64 " fatal\n",
                facts.errors.correctable, facts.errors.fatal);
}

static void tell_counts(FILE *told, char **words)
{
    find_facts(words);
    if (facts.replays_known)
        fprintf(told, "%" PRIu64 " replays, %" PRIu64 " at once, in %u attempts\n", facts.replays,
                facts.most_replays, facts.attempts_replayed);
    for (size_t i = 0; i < XB_PCIE_COUNTERS; i++)
        if (facts.counted[i] && facts.rises[i] > 0)
            fprintf(told, "%s: %" PRIu64 " in %u attempts and %g s, %" PRIu64 " since boot\n",
                    xb_pcie_counters[i].words, facts.rises[i], facts.attempts_risen[i],
                    facts.counted_seconds, facts.since_boot[i]);
    for (size_t i = 0; i < XB_NVLINKS; i++)
        for (size_t j = 0; j < XB_NVLINK_COUNTERS; j++)
            if (facts.nvlinks.links[i].counted[j] && facts.nvlinks.links[i].rises[j] > 0)
                fprintf(told, "NVLink %zu: %" PRIu64 " of %" PRIu64 " %s in %g bits\n", i,
                        facts.nvlinks.links[i].rises[j], facts.nvlinks.rises[j],
                        xb_nvlink_counters[j].many, facts.nvlinks.links[i].bits);
}

static void tell_under_load(FILE *told, NO_WORDS)
{
    unsigned generation = 9, width = 9;
    bool is_known = xb_link_under_load(&devices[0], &generation, &width);
    fprintf(told, "%s under load: Gen%u x%u\n", is_known ? "known" : "not known", generation,
            width);
}

static const struct verb verbs[] = {
    {"devices", run_devices},
    {"attempts", run_attempts},
    {"set", run_set},
    {"device", run_device},
    {"pair", run_pair},
    {"of", run_pairs_of},
    {"nvlink", run_nvlink},
    {"links", run_links},
    {"hop", run_hop},
    {"rate", run_rate},
    {"slow", run_rate},
    {"again", run_attempt},
    {"nothing", run_attempt},
    {"steady", run_attempt},
    {"unwatched", run_attempt},
    {"limit", run_limit},
    {"expect", run_expect},
    {"accept", run_accept},
    {"was", run_was},
    {"tell-ways", tell_ways},
    {"tell-pair", tell_pair},
    {"tell-links", tell_links},
    {"tell-counts", tell_counts},
    {"tell-under-load", tell_under_load},
    {"judge", tell},
    {NULL, NULL},
};

TEST(what_is_slow_by_design_or_as_set_is_never_condemned)
{
    for (unsigned i = 0; i < 2 * 100; i++) {
        struct xb_link_attempt *attempt = &devices[0].attempts[0];
        begin();
        for (size_t way = 0; way < XB_LINK_WAYS; way++)
            attempt->rates[way] = attempt->conditions[way].fastest = (i / 2 + 1) * 0.5e9;
        devices[0].setup.confidential = i % 2 == 0 ? XB_SWITCH_ON : XB_SWITCH_UNKNOWN;
        attempt->conditions[0].clocks.memory_clock_mhz =
            attempt->conditions[1].clocks.memory_clock_mhz = 1593;
        attempt->conditions[0].traffic_known = attempt->conditions[1].traffic_known = false;
        judge();
        assert_int_equal(verdicts[0].found.level, XB_LEVEL_UNKNOWN);
        assert_int_equal(verdicts[0].found.reason_count, 2);
        assert_string_equal(verdicts[0].found.reasons[0].code,
                            i % 2 == 0 ? "XB-CONFIDENTIAL" : "XB-CLOCKS-LOW");
    }
}

TEST_CASES(verdicts_by_links, "link/verdict_link", verbs, begin)

TEST_CASES(verdicts_by_bandwidths, "link/verdict_bandwidth", verbs, begin)

TEST_CASES(verdicts_by_incidents_and_counters, "link/verdict_events", verbs, begin)

TEST_CASES(verdicts_by_several_attempts, "link/verdict_attempts", verbs, begin)

TEST_CASES(verdicts_by_nvlinks, "link/verdict_nvlinks", verbs, begin)

TEST_CASES(verdicts_on_pairs, "link/verdict_pairs", verbs, begin)

TEST_CASES(verdicts_by_what_was_accepted, "link/verdict_accepted", verbs, begin)

/* Copies that scatter by 0.3 %, judged again as a session does: the best of three attempts counts.
 */
static enum xb_level level_of(uint64_t *state, double share, double busy)
{
    make_node(1, 3);
    verdicts[0].limits = (struct xb_link_limits){
        .was = {.known = true, .load = {32, 16}, .rates = {55.4e9, 55.3e9}}};
    for (size_t i = 0; i < 6; i++) {
        struct xb_link_attempt *attempt = &devices[0].attempts[i / 2];
        struct xb_link_conditions *seen = &attempt->conditions[i % 2];
        double rate = share * 55.4e9 * (1 + 0.003 * normal(state));
        attempt->rates[i % 2] = seen->mean = seen->fastest = rate;
        seen->sent = (i % 2 == XB_BACK ? 1.08 : 0.09) * rate;
        seen->received = (i % 2 == XB_BACK ? 0 : 1.08) * rate;
        seen->cpus_busy = busy;
    }
    judge();
    return node.level;
}

TEST(five_percent_less_than_then_is_found_each_time_and_two_never)
{
    uint64_t seed = 41;
    for (size_t i = 0; i < 100; i++) {
        assert_int_equal(level_of(&seed, 0.95, 0.2), XB_LEVEL_WARNING);
        assert_string_equal(verdicts[0].found.reasons[0].code, "XB-BASELINE-BW");
        assert_int_equal(level_of(&seed, 0.98, 0.2), XB_LEVEL_OK);
        assert_int_equal(level_of(&seed, 0.95, 8), XB_LEVEL_UNKNOWN);
        assert_string_equal(verdicts[0].found.reasons[0].code, "XB-HOST-BUSY");
    }
}

TEST(an_accepted_x8_slot_is_ok_each_time_and_x4_in_it_never)
{
    struct xb_error error;
    uint64_t seed = 42;
    for (unsigned i = 0; i < 200; i++) {
        const unsigned width = i % 2 == 0 ? 8 : 4;
        struct xb_link_attempt *attempt = &devices[0].attempts[0];
        make_node(1, 1);
        make_hop(attempt, 0, (struct xb_lanes){32, 16}, (struct xb_lanes){32, width});
        attempt->rates[0] = attempt->rates[1] = width * 3.44e9 * (1 + 0.003 * normal(&seed));
        verdicts[0].limits = (struct xb_link_limits){.width = {true, 8, XB_LIMIT_FILE}};
        assert_int_equal(
            xb_accept("XB-LINK-WIDTH", "x8", XB_LIMIT_FILE, &verdicts[0].limits, &error), XB_OK);
        judge();
        assert_int_equal(node.level, width == 8 ? XB_LEVEL_OK : XB_LEVEL_CRITICAL);
        assert_string_equal(verdicts[0].found.reasons[0].code, "XB-LINK-WIDTH");
        assert_true((verdicts[0].found.reasons[0].accepted != NULL) == (width == 8));
    }
}

/* ---- parts ---- */

TEST(orders_levels)
{
    static const enum xb_level order[] = {XB_LEVEL_OK, XB_LEVEL_UNKNOWN, XB_LEVEL_WARNING,
                                          XB_LEVEL_CRITICAL};
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 4; j++)
            assert_int_equal(xb_level_worse(order[i], order[j]), order[i > j ? i : j]);
}

/* An expectation that is refused leaves the limits as they were. */
static void say_expectation(const struct row *row, char said[ROW_TEXT])
{
    struct xb_link_limits limits = {.width = {true, 8.0, XB_LIMIT_COMMAND_LINE}};
    struct xb_error error = {0};
    enum xb_status status = xb_expect_parse(row->part[0], XB_LIMIT_FILE, &limits, &error);
    if (limits.generation.is_set)
        say_also(said, "generation %g (%s) ", limits.generation.value,
                 xb_limit_source_name(limits.generation.source));
    say_also(said, "width %g (%s)", limits.width.value, xb_limit_source_name(limits.width.source));
    if (status != XB_OK) {
        say_also(said, " ");
        say_refused(said, status, &error);
    }
}
TEST_ROWS(reads_expectations, say_expectation)

/* The probability that a Poisson distribution gives k or more. */
static double tail(double mean, uint64_t k)
{
    double sum = 0;
    for (uint64_t i = k; i < k + 1000; i++)
        sum += exp((double)i * log(mean) - mean - lgamma((double)i + 1));
    return sum;
}

TEST(allows_the_replays_that_a_healthy_nvlink_may_have)
{
    static const double means[] = {1e-9, 1e-6, 0.01, 0.4, 1, 5, 20, 300};
    uint64_t last = 0;
    for (size_t i = 0; i < sizeof means / sizeof means[0]; i++) {
        uint64_t most = xb_nvlink_replays_allowed(means[i] / XB_NVLINK_BIT_ERROR_RATE);
        if (!(tail(means[i], most + 1) < XB_NVLINK_FALSE_ALARM))
            fail_msg("mean %g: more than %d is too likely", means[i], (int)most);
        /* The bound is close: a few less would be an alarm too often. */
        if (most > 3 &&
            !(tail(means[i], most - 3 - (uint64_t)sqrt(means[i])) > XB_NVLINK_FALSE_ALARM))
            fail_msg("mean %g: %d is far too many", means[i], (int)most);
        assert_true(most >= last);
        last = most;
    }
    assert_int_equal(xb_nvlink_replays_allowed(0), 0);
    assert_int_equal(xb_nvlink_replays_allowed(-1), 0);
    assert_int_equal(xb_nvlink_replays_allowed(NAN), 0);
    assert_true(xb_nvlink_replays_allowed(INFINITY) == UINT64_MAX);
    assert_true(xb_nvlink_replays_allowed(1e300) == UINT64_MAX);
}
