/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * PCI devices as sysfs shows them, laid out under a folder that takes the place of
 * /sys/bus/pci/devices: every function in the folder of the one above it, and a symbolic link to
 * each where it is looked for.
 *
 * pcie_fixture_scenario(root, name) builds one of those named below, whose device is always
 * PCIE_FIXTURE_DEVICE.
 */

#include "fixture_tree.h"

#define PCIE_FIXTURE_DEVICE "0000:0f:00.0"

#define PCIE_UNKNOWN "Unknown speed\n", "16\n"
#define PCIE_GEN1_X16 "2.5 GT/s PCIe\n", "16\n"
#define PCIE_GEN3_X16 "8.0 GT/s PCIe\n", "16\n"
#define PCIE_GEN4_X8 "16.0 GT/s PCIe\n", "8\n"
#define PCIE_GEN4_X16 "16.0 GT/s PCIe\n", "16\n"
#define PCIE_GEN5_X8 "32.0 GT/s PCIe\n", "8\n"
#define PCIE_GEN5_X16 "32.0 GT/s PCIe\n", "16\n"

/* One function: its link now and the best that it can do, as sysfs has them. */
struct pcie_function {
    const char *bdf, *vendor, *speed, *width, *max_speed, *max_width;
};

/* Writes an attribute of a function as one step, so that a reader sees the old text or the new. */
static inline void pcie_fixture_set(const char *root, const char *bdf, const char *name,
                                    const char *content)
{
    char made[128];
    char from[PATH_MAX];
    char to[PATH_MAX];

    snprintf(made, sizeof made, "%s/%s.new", bdf, name);
    write_file(root, made, content);
    snprintf(from, sizeof from, "%s/%s", root, made);
    snprintf(to, sizeof to, "%s/%s/%s", root, bdf, name);
    assert_int_equal(rename(from, to), 0);
}

/* Takes an attribute away. */
static inline void pcie_fixture_remove(const char *root, const char *bdf, const char *name)
{
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/%s/%s", root, bdf, name);
    assert_int_equal(remove(path), 0);
}

/* A directory in the place of an attribute: there, and not to be read, not even by root. */
static inline void pcie_fixture_block(const char *root, const char *bdf, const char *name)
{
    char path[PATH_MAX];

    pcie_fixture_remove(root, bdf, name);
    snprintf(path, sizeof path, "%s/%s/%s", root, bdf, name);
    assert_int_equal(mkdir(path, 0700), 0);
}

/* The three files of error counters, each with a kind beside the total. */
static inline void pcie_fixture_aer(const char *root, const char *bdf, uint64_t correctable,
                                    uint64_t nonfatal, uint64_t fatal)
{
    char text[128];

    snprintf(text, sizeof text, "RxErr %llu\nBadTLP 0\nTOTAL_ERR_COR %llu\n",
             (unsigned long long)correctable, (unsigned long long)correctable);
    pcie_fixture_set(root, bdf, "aer_dev_correctable", text);
    snprintf(text, sizeof text, "Undefined 0\nCmpltTO %llu\nTOTAL_ERR_NONFATAL %llu\n",
             (unsigned long long)nonfatal, (unsigned long long)nonfatal);
    pcie_fixture_set(root, bdf, "aer_dev_nonfatal", text);
    snprintf(text, sizeof text, "Undefined 0\nDLP %llu\nTOTAL_ERR_FATAL %llu\n",
             (unsigned long long)fatal, (unsigned long long)fatal);
    pcie_fixture_set(root, bdf, "aer_dev_fatal", text);
}

/* ---- configuration space ---- */

#define PCIE_CONFIG_BYTES 4096
#define PCIE_CONFIG_CAPABILITY 0x60 /* where pcie_fixture_config puts PCI Express */
#define PCIE_CONFIG_ACS 0x140       /* and ACS */

static inline void pcie_config_put(uint8_t *bytes, size_t offset, size_t count, uint32_t value)
{
    for (size_t i = 0; i < count; i++)
        bytes[offset + i] = (uint8_t)(value >> 8 * i);
}

static inline uint32_t pcie_config_code(unsigned size)
{
    uint32_t code = 0;

    for (; size > 128; size /= 2)
        code++;
    return code;
}

/* A device's configuration space: power management, MSI and PCI Express; AER and, if acs_control is
 * not negative, ACS. */
static inline void pcie_fixture_config(uint8_t bytes[PCIE_CONFIG_BYTES], unsigned max_payload,
                                       unsigned max_payload_supported, unsigned max_read_request,
                                       int acs_control)
{
    memset(bytes, 0, PCIE_CONFIG_BYTES);
    pcie_config_put(bytes, 0x00, 4, 0x233510de);
    pcie_config_put(bytes, 0x04, 4, 0x00100406); /* has a list of capabilities */
    pcie_config_put(bytes, 0x34, 1, 0x40);
    pcie_config_put(bytes, 0x40, 2, 0x4801);
    pcie_config_put(bytes, 0x48, 2, PCIE_CONFIG_CAPABILITY << 8 | 0x05);
    pcie_config_put(bytes, PCIE_CONFIG_CAPABILITY, 2, 0x0010);
    /* The bits around the codes are set: they are no part of them. */
    pcie_config_put(bytes, PCIE_CONFIG_CAPABILITY + 4, 4,
                    0x10008ff8u | pcie_config_code(max_payload_supported));
    pcie_config_put(bytes, PCIE_CONFIG_CAPABILITY + 8, 2,
                    0x8f1fu | pcie_config_code(max_payload) << 5 |
                        pcie_config_code(max_read_request) << 12);
    pcie_config_put(bytes, 0x100, 4, PCIE_CONFIG_ACS << 20 | 0x20001);
    if (acs_control < 0)
        pcie_config_put(bytes, PCIE_CONFIG_ACS, 4, 0x10018); /* latency tolerance reporting */
    else {
        pcie_config_put(bytes, PCIE_CONFIG_ACS, 4, 0x1000d);
        pcie_config_put(bytes, PCIE_CONFIG_ACS + 4, 2, 0x7f);
        pcie_config_put(bytes, PCIE_CONFIG_ACS + 6, 2, (uint32_t)acs_control);
    }
}

/* The file that a reader gets to see: 4096 bytes for root, 64 for others. */
static inline void pcie_fixture_write_config(const char *root, const char *bdf,
                                             const uint8_t *bytes, size_t size)
{
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/%s/config", root, bdf);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* ---- trees ---- */

static inline void pcie_fixture_link(const char *root, const char *path, const char *target)
{
    char full[PATH_MAX];

    snprintf(full, sizeof full, "%s/%s", root, path);
    assert_int_equal(symlink(target, full), 0);
}

/* Lays out functions from the one next to the root complex down to the device. */
static inline void pcie_fixture_chain(const char *root, const struct pcie_function *functions,
                                      size_t count)
{
    char folder[400] = "devices/pci0000:00";

    for (size_t i = 0; i < count; i++) {
        const struct pcie_function *f = &functions[i];
        const char *const files[][2] = {{"vendor", f->vendor},
                                        {"current_link_speed", f->speed},
                                        {"current_link_width", f->width},
                                        {"max_link_speed", f->max_speed},
                                        {"max_link_width", f->max_width},
                                        {"numa_node", "0\n"},
                                        {"local_cpulist", "0-15,64-79\n"}};
        char path[500];
        size_t length = strlen(folder);
        assert_in_range(length + strlen(f->bdf) + 1, 1, sizeof folder - 1);
        snprintf(folder + length, sizeof folder - length, "/%s", f->bdf);
        for (size_t j = 0; j < sizeof files / sizeof *files; j++) {
            snprintf(path, sizeof path, "%s/%s", folder, files[j][0]);
            write_file(root, path, files[j][1]);
        }
        snprintf(path, sizeof path, "%s/iommu_group", folder);
        pcie_fixture_link(root, path, "../../../kernel/iommu_groups/12");
        pcie_fixture_link(root, f->bdf, folder);
        pcie_fixture_aer(root, f->bdf, 0, 0, 0);
    }
}

struct pcie_scenario {
    const char *name;
    struct pcie_function functions[4]; /* from the top */
};

static const struct pcie_scenario pcie_scenarios[] = {
    /* A Gen5 x16 card in a Gen5 x16 slot. */
    {"healthy",
     {{"0000:00:01.0", "0x8086\n", PCIE_GEN5_X16, PCIE_GEN5_X16},
      {PCIE_FIXTURE_DEVICE, "0x10de\n", PCIE_GEN5_X16, PCIE_GEN5_X16}}},
    /* Half of the lanes are missing. */
    {"x8",
     {{"0000:00:01.0", "0x8086\n", PCIE_GEN5_X8, PCIE_GEN5_X16},
      {PCIE_FIXTURE_DEVICE, "0x10de\n", PCIE_GEN5_X8, PCIE_GEN5_X16}}},
    /* Trained to Gen3, which neither end asks for. */
    {"gen3",
     {{"0000:00:01.0", "0x8086\n", PCIE_GEN3_X16, PCIE_GEN5_X16},
      {PCIE_FIXTURE_DEVICE, "0x10de\n", PCIE_GEN3_X16, PCIE_GEN5_X16}}},
    /* At rest. */
    {"gen1",
     {{"0000:00:01.0", "0x8086\n", PCIE_GEN1_X16, PCIE_GEN5_X16},
      {PCIE_FIXTURE_DEVICE, "0x10de\n", PCIE_GEN1_X16, PCIE_GEN5_X16}}},
    /* Neither end tells. */
    {"unknown-speed",
     {{"0000:00:01.0", "0x8086\n", PCIE_UNKNOWN, PCIE_UNKNOWN},
      {PCIE_FIXTURE_DEVICE, "0x10de\n", PCIE_UNKNOWN, PCIE_UNKNOWN}}},
    /* A switch whose link up to the root has half of its lanes. */
    {"switch-x8",
     {{"0000:00:01.0", "0x8086\n", PCIE_GEN5_X8, PCIE_GEN5_X16},
      {"0000:0d:00.0", "0x1000\n", PCIE_GEN5_X8, PCIE_GEN5_X16},
      {"0000:0e:04.0", "0x1000\n", PCIE_GEN5_X16, PCIE_GEN5_X16},
      {PCIE_FIXTURE_DEVICE, "0x10de\n", PCIE_GEN5_X16, PCIE_GEN5_X16}}},
    /* An AMD card with a switch on its package, in a Gen4 x8 slot. */
    {"amd",
     {{"0000:00:01.1", "0x1022\n", PCIE_GEN4_X8, PCIE_GEN4_X8},
      {"0000:0d:00.0", "0x1002\n", PCIE_GEN4_X8, PCIE_GEN5_X16},
      {"0000:0e:00.0", "0x1002\n", PCIE_GEN5_X16, PCIE_GEN5_X16},
      {PCIE_FIXTURE_DEVICE, "0x1002\n", PCIE_GEN5_X16, PCIE_GEN5_X16}}},
    /* Passed into a virtual machine without its bridges. */
    {"vm", {{PCIE_FIXTURE_DEVICE, "0x10de\n", PCIE_GEN5_X16, PCIE_GEN5_X16}}},
};

/* Builds the scenario of that name; returns its device's BDF. */
static inline const char *pcie_fixture_scenario(const char *root, const char *name)
{
    for (size_t i = 0; i < sizeof pcie_scenarios / sizeof *pcie_scenarios; i++) {
        const struct pcie_scenario *scenario = &pcie_scenarios[i];
        size_t count = 0;
        if (strcmp(scenario->name, name) != 0)
            continue;
        while (count < 4 && scenario->functions[count].bdf != NULL)
            count++;
        pcie_fixture_chain(root, scenario->functions, count);
        return PCIE_FIXTURE_DEVICE;
    }
    fail_msg("there is no scenario %s", name);
    return "";
}

/* The device vanishes from where it is looked for. */
static inline void pcie_fixture_unplug(const char *root, const char *bdf)
{
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/%s", root, bdf);
    assert_int_equal(unlink(path), 0);
}
