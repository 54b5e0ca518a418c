/* SPDX-License-Identifier: Apache-2.0 */
/* What is made of files as /proc and /sys have them: texts beside this file lay them out. */
#define _GNU_SOURCE /* nftw */
#include "base/parallel.h"
#include "cases.h"
#include "machine/environment.h"
#include "machine/host_memory.h"
#include "machine/pcie.h"
#include "pcie_fixture.h"
#include "rows.h"

#include <inttypes.h>

static void *root;

static void begin(void)
{
    if (root != NULL)
        assert_int_equal(remove_tree(&root), 0);
    assert_int_equal(make_tree(&root), 0);
}

static int end(NO_STATE)
{
    return root != NULL ? remove_tree(&root) : 0;
}
GROUP(NULL, end)

/* ---- verbs that lay out files ---- */

static void write_lines(const char *path, char **lines)
{
    char text[2000] = "";
    for (; *lines != NULL; lines++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s\n", *lines);
    write_file(root, path, text);
}

/* file PATH LINE... */
static void run_file(UNTOLD, char **words)
{
    write_lines(words[1], words + 2);
}

/* text PATH TEXT: without a line's end. */
static void run_text(UNTOLD, char **words)
{
    write_file(root, words[1], words[2]);
}

static uint64_t bytes_of(const char *text) /* 8G, 512M, or bytes */
{
    char *unit;
    uint64_t number = strtoull(text, &unit, 10);
    return number << (*unit == 'G' ? 30 : *unit == 'M' ? 20 : 0);
}

/* bytes PATH NUMBER */
static void run_bytes(UNTOLD, char **words)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64 "\n", bytes_of(words[2]));
    write_file(root, words[1], text);
}

/* remove BDF NAME...; block BDF NAME...: there, and not to be read. */
static void run_remove(UNTOLD, char **words)
{
    for (char **name = words + 2; *name != NULL; name++)
        (words[0][0] == 'b' ? pcie_fixture_block : pcie_fixture_remove)(root, words[1], *name);
}

static void run_link(UNTOLD, char **words)
{
    pcie_fixture_link(root, words[1], words[2]);
}

static void run_unplug(UNTOLD, char **words)
{
    pcie_fixture_unplug(root, words[1]);
}

static void run_scenario(UNTOLD, char **words)
{
    (void)pcie_fixture_scenario(root, words[1]);
}

/* set BDF NAME VALUE */
static void run_set(UNTOLD, char **words)
{
    char text[700];
    snprintf(text, sizeof text, "%s\n", words[3]);
    pcie_fixture_set(root, words[1], words[2], text);
}

/* chain BDF/VENDOR/NOW/BEST...: from the top, each link as 32.0x16. */
static void run_chain(UNTOLD, char **words)
{
    static char texts[MOST_WORDS][6][32];
    struct pcie_function chain[MOST_WORDS];
    size_t count = 0;
    for (char **word = words + 1; *word != NULL; word++, count++) {
        char(*text)[32] = texts[count];
        if (sscanf(*word, "%31[^/]/%31[^/]/%15[^x]x%15[^/]/%15[^x]x%15s", text[0], text[1], text[2],
                   text[3], text[4], text[5]) != 6)
            fail_case("%s is no function", *word);
        strcat(text[2], " GT/s PCIe");
        strcat(text[4], " GT/s PCIe");
        chain[count] = (struct pcie_function){text[0], text[1], text[2], text[3], text[4], text[5]};
    }
    pcie_fixture_chain(root, chain, count);
}

static void run_aer(UNTOLD, char **words)
{
    pcie_fixture_aer(root, words[1], strtoull(words[2], NULL, 10), strtoull(words[3], NULL, 10),
                     strtoull(words[4], NULL, 10));
}

/* config BDF PAYLOAD SUPPORTED REQUEST [acs=CONTROL] [size=BYTES] [OFFSET:COUNT:VALUE...] */
static void run_config(UNTOLD, char **words)
{
    uint8_t bytes[PCIE_CONFIG_BYTES];
    pcie_fixture_config(bytes, (unsigned)number_of(words[2]), (unsigned)number_of(words[3]),
                        (unsigned)number_of(words[4]), (int)number_or(words, "acs", -1));
    for (char **word = words + 5; *word != NULL; word++) {
        unsigned offset, count, value;
        if (sscanf(*word, "%x:%u:%x", &offset, &count, &value) == 3)
            for (unsigned i = 0; i < count; i++) /* a count above 4 repeats the last byte */
                pcie_config_put(bytes, offset + i, 1, value >> 8 * (i < 4 ? i : 3));
    }
    pcie_fixture_write_config(root, words[1], bytes,
                              (size_t)number_or(words, "size", PCIE_CONFIG_BYTES));
}

/* ---- what is made of them ---- */

static void tell_link_of(FILE *told, const struct xb_pcie_link *link)
{
    fprintf(told, " %gx%u of %gx%u", link->speed_gts, link->width, link->max_speed_gts,
            link->max_width);
    if (!link->known)
        fputs(", not known", told);
}

static void tell_link(FILE *told, char **words)
{
    struct xb_pcie_link link = xb_pcie_link_read(root, words[1]);
    fprintf(told, "link at %s:", link.port[0] != '\0' ? link.port : "nobody");
    tell_link_of(told, &link);
    fputs("\n", told);
}

static void tell_control_of(FILE *told, const struct xb_pcie_control *control)
{
    if (control->known)
        fprintf(told, " packets %u of %u, requests %u", control->max_payload,
                control->max_payload_supported, control->max_read_request);
    else if (control->max_payload > 0 || control->max_read_request > 0)
        fputs(" packets half known", told);
    else
        fputs(" packets not known", told);
    fputs(control->acs_redirects ? ", ACS redirects" : control->has_acs ? ", ACS" : "", told);
}

static void tell_control(FILE *told, char **words)
{
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s/%s", (const char *)root, words[1]);
    struct xb_pcie_control control = xb_pcie_control_read(folder);
    fputs("config:", told);
    tell_control_of(told, &control);
    fputs("\n", told);
}

static void tell_errors_of(FILE *told, const struct xb_pcie_aer *aer)
{
    if (aer->known)
        fprintf(told, "errors %" PRIu64 ", %" PRIu64 ", %" PRIu64, aer->correctable, aer->nonfatal,
                aer->fatal);
    else
        fprintf(told, "errors %s known",
                aer->correctable + aer->nonfatal + aer->fatal > 0 ? "half" : "not");
}

static void tell_end(FILE *told, const char *where, const struct xb_pcie_end *end)
{
    fprintf(told, "  %s %s of %#x:", where, end->bdf, end->vendor);
    tell_link_of(told, &end->link);
    if (strcmp(end->link.port, end->link.known ? end->bdf : "") != 0)
        fprintf(told, " at port %s", end->link.port);
    fprintf(told, "; node %d; ", end->numa_node);
    tell_errors_of(told, &end->aer);
    if (end->control.known || end->control.has_acs) {
        fputs(";", told);
        tell_control_of(told, &end->control);
    }
    if (end->aspm[0] == 'L' || (end->aspm[0] != '\0' && !end->control.known))
        fprintf(told, ", ASPM %s", end->aspm);
    fputs("\n", told);
}

/* tell-device [BDF] */
static struct xb_pcie_path tell_device_of(FILE *told, char **words)
{
    struct xb_pcie_path path;
    memset(&path, 0xa5, sizeof path); /* nothing may depend on what was there */
    xb_pcie_path_read(root, words[1] != NULL ? words[1] : PCIE_FIXTURE_DEVICE, &path);
    fprintf(told, "%s%s: node %d, CPUs %.20s, group %d, %zu hops\n",
            path.present ? "present" : "not present", path.dead ? ", dead" : "", path.numa_node,
            path.local_cpus[0] != '\0' ? path.local_cpus : "not known", path.iommu_group,
            path.count);
    if (path.iommu_type[0] != '\0' || path.largest_bar > 0)
        fprintf(told, "  IOMMU %s, BAR %" PRIu64 "\n", path.iommu_type, path.largest_bar);
    if (strlen(path.local_cpus) > 20)
        fprintf(told, "  a list of %zu\n", strlen(path.local_cpus));
    return path;
}

static void tell_device(FILE *told, char **words)
{
    (void)tell_device_of(told, words);
}

/* tell-path [BDF] */
static void tell_path(FILE *told, char **words)
{
    struct xb_pcie_path path = tell_device_of(told, words);
    for (size_t i = 0; i < path.count; i++) {
        const struct xb_pcie_hop *hop = &path.hops[i];
        struct xb_lanes best = xb_pcie_hop_best(hop);
        fprintf(told, "hop %zu%s: best %gx%u%s\n", i, hop->on_package ? " on the package" : "",
                best.speed_gts, best.width,
                hop->has_upper && !xb_pcie_hop_upper_is_real(hop) ? ", below an emulated port"
                                                                  : "");
        tell_end(told, "lower", &hop->lower);
        if (hop->has_upper)
            tell_end(told, "upper", &hop->upper);
        else if (hop->upper.bdf[0] != '\0')
            fputs("  an upper end that is none\n", told);
    }
}

/* Those that the device's own end counts. */
static void tell_errors(FILE *told, char **words)
{
    struct xb_pcie_path path;
    (void)words;
    xb_pcie_path_read(root, PCIE_FIXTURE_DEVICE, &path);
    tell_errors_of(told, &path.hops[0].lower.aer);
    fprintf(told, "%s\n", path.hops[0].upper.aer.known ? "" : ", and not above");
}

/* tell-present BDF...: which of them are */
static void tell_present(FILE *told, char **words)
{
    for (char **bdf = words + 1; *bdf != NULL; bdf++) {
        struct xb_pcie_path path;
        xb_pcie_path_read(root, *bdf, &path);
        fprintf(told, "\"%s\" is %s\n", *bdf, path.present ? "present" : "not present");
    }
}

static void tell_node(FILE *told, char **words)
{
    fprintf(told, "node %d\n", xb_pcie_numa_node_at(root, words[1]));
}

/* Without the folder in which the test lies. */
static void say_status(FILE *told, enum xb_status status, const struct xb_error *error)
{
    const char *place = strstr(error->message, root), *rest = error->message;
    if (status == XB_OK)
        return;
    fprintf(told, "status %d, %s: ", (int)status,
            error->native_name[0] != '\0' ? error->native_name : "no errno");
    if (place != NULL) {
        fprintf(told, "%.*s", (int)(place - rest), rest);
        rest = place + strlen(root);
    }
    fprintf(told, "%s\n", rest);
}

static void tell_memory(FILE *told, char **words)
{
    struct xb_memory_limit limit;
    struct xb_error error = {0};
    char text[448];
    (void)words;
    enum xb_status status = xb_memory_limit_find(root, &limit, &error);
    say_status(told, status, &error);
    if (status != XB_OK)
        return;
    fprintf(told, "%g MiB under %s%s\n", (double)limit.bytes / (1 << 20), limit.source,
            limit.is_set ? ", which somebody set" : "");
    fprintf(told, "  %s\n", xb_host_memory_limit_text(root, text, sizeof text));
}

/* tell-check BYTES...: whether they can be had */
static void tell_check(FILE *told, char **words)
{
    for (char **word = words + 1; *word != NULL; word++) {
        struct xb_error error = {0};
        enum xb_status status = xb_host_memory_check_at(root, bytes_of(*word), &error);
        fprintf(told, "%s: ", *word);
        say_status(told, status, &error);
        if (status == XB_OK)
            fputs("can be had\n", told);
        else
            assert_int_equal(error.status, status);
    }
}

static void tell_quota(FILE *told, char **words)
{
    unsigned quota = xb_cpu_quota_read(root);
    (void)words;
    if (quota == UINT_MAX)
        fputs("any number of CPUs\n", told);
    else
        fprintf(told, "%u CPUs\n", quota);
}

/* tell-times LINE...: of such a /proc/stat */
static void tell_times(FILE *told, char **words)
{
    char path[PATH_MAX];
    struct xb_cpu_times times;
    memset(&times, 0xa5, sizeof times);
    write_lines("stat", words + 1);
    snprintf(path, sizeof path, "%s/stat", (const char *)root);
    fprintf(told, "%s: ", xb_cpu_times_read(path, &times) ? "read" : "not read");
    fprintf(told, "%u CPUs, %" PRIu64 " of %" PRIu64 " busy\n", times.cpus, times.busy,
            times.total);
}

static const struct verb verbs[] = {
    {"file", run_file},
    {"text", run_text},
    {"bytes", run_bytes},
    {"remove", run_remove},
    {"block", run_remove},
    {"link", run_link},
    {"unplug", run_unplug},
    {"scenario", run_scenario},
    {"set", run_set},
    {"chain", run_chain},
    {"aer", run_aer},
    {"config", run_config},
    {"tell-link", tell_link},
    {"tell-device", tell_device},
    {"tell-path", tell_path},
    {"tell-control", tell_control},
    {"tell-node", tell_node},
    {"tell-errors", tell_errors},
    {"tell-present", tell_present},
    {"tell-memory", tell_memory},
    {"tell-check", tell_check},
    {"tell-quota", tell_quota},
    {"tell-times", tell_times},
    {NULL, NULL},
};

TEST_CASES(pcie_links, "machine/pcie_links", verbs, begin)

TEST_CASES(pcie_paths, "machine/pcie_paths", verbs, begin)

TEST_CASES(configuration_spaces, "machine/config_space", verbs, begin)

TEST_CASES(limits_of_memory_and_cpus, "machine/host_limits", verbs, begin)

TEST(files_that_are_not_there)
{
    struct xb_cpu_times times;
    assert_false(xb_pcie_link_read(XB_PCI_DEVICES, "").known); /* a device on no PCI bus */
    assert_false(xb_pcie_link_read(XB_PCI_DEVICES, "ffff:ff:1f.7").known);
    assert_int_equal(xb_pcie_numa_node(""), -1);
    assert_false(xb_cpu_times_read("/nowhere/stat", &times));
    assert_int_equal(times.cpus + times.total, 0);
}

TEST(no_more_cpus_are_used_than_allowed)
{
    unsigned usable = xb_cpus_usable();
    assert_true(usable >= 1 && usable <= xb_cpus_allowed());
}

TEST(times_loads)
{
    struct xb_memory_probe *probe = xb_memory_probe_open();
    if (probe == NULL)
        skip(); /* no memory for it */
    assert_true(xb_memory_probe_time(probe) > 0);
    xb_memory_probe_close(probe);
    xb_memory_probe_close(NULL);
}

/* ---- parsers ---- */

static void say_process_memory(const struct row *row, char said[ROW_TEXT])
{
    struct xb_process_memory memory;
    memset(&memory, 0xa5, sizeof memory);
    if (!xb_process_memory_parse(row->part[0], &memory)) {
        say_also(said, "nothing");
        return;
    }
    say_also(said, "resident %" PRIu64 " of %" PRIu64 ": %" PRIu64 " %" PRIu64 " %" PRIu64,
             memory.resident, memory.highest, memory.anonymous, memory.file, memory.shared);
    say_also(said, ", locked %" PRIu64 " %" PRIu64, memory.locked, memory.pinned);
}
TEST_ROWS(memory_of_a_process, say_process_memory)

/* The flags of /proc/cpuinfo, the board's vendor and product, the policy; "-": no such file. */
static void say_platform(const struct row *row, char said[ROW_TEXT])
{
    static const char *const files[] = {"proc/cpuinfo", "sys/class/dmi/id/sys_vendor",
                                        "sys/class/dmi/id/product_name",
                                        "sys/module/pcie_aspm/parameters/policy"};
    struct xb_platform platform;
    begin();
    for (size_t i = 0; i < COUNT_OF(files); i++)
        if (strcmp(row->part[i], "-") != 0)
            write_file(root, files[i], row->part[i]);
    xb_platform_read(root, &platform);
    say_also(said, "on \"%s\", policy \"%s\"", platform.hypervisor, platform.aspm_policy);
}
TEST_ROWS(what_a_machine_is, say_platform)

static void say_recorded(const struct row *row, char said[ROW_TEXT])
{
    say_also(said, xb_environment_is_recorded(row->part[0]) ? "recorded" : "not recorded");
}
TEST_ROWS(what_steers_a_runtime_is_recorded, say_recorded)
TEST_ROWS(other_variables_are_not_recorded, say_recorded)
