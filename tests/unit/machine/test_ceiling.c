/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* strtok_r */
#include "machine/pcie.h"
#include "rows.h"

static struct xb_pcie_control control_of(unsigned payload, unsigned read_request)
{
    return (struct xb_pcie_control){.known = true,
                                    .max_payload = payload,
                                    .max_payload_supported = 512,
                                    .max_read_request = read_request};
}

/* SPEED | WIDTH [| PAYLOAD [| READ REQUEST]]: of these the one alone is not known. */
static void say_ceiling(const struct row *row, char said[ROW_TEXT])
{
    struct xb_pcie_control control =
        control_of((unsigned)row_number(row, 2), (unsigned)row_number(row, 3));
    control.known = row->count == 4;
    double speed = strtod(row->part[0], NULL);
    unsigned width = (unsigned)row_number(row, 1);
    struct xb_ceiling ceiling = xb_ceiling_of(speed, width, row->count > 2 ? &control : NULL);
    say_also(said, "%s%.4g: %.2f and %.2f GB/s",
             ceiling.derived ? "derived "
             : ceiling.known ? ""
                             : "not known, ",
             ceiling.raw / 1e9, ceiling.d2h / 1e9, ceiling.h2d / 1e9);
    say_also(said, "; %u%s, %u%s", ceiling.payload, ceiling.payload_assumed ? " assumed" : "",
             ceiling.read_request, ceiling.read_request_assumed ? " assumed" : "");
    if (ceiling.known)
        assert_true(ceiling.speed_gts == speed && ceiling.width == width);
}
TEST_ROWS(ceilings_of_links, say_ceiling)

static void say_rate(const struct row *row, char said[ROW_TEXT])
{
    double speed = strtod(row->part[0], NULL);
    say_also(said, "Gen%u, %.2f GB/s", xb_pcie_generation(speed),
             xb_pcie_raw_rate(speed, (unsigned)row_number(row, 1)) / 1e9);
}
TEST_ROWS(generations_and_raw_rates, say_rate)

/* ---- a path ---- */

/* What a hop's words say: 32x16 what was seen of it, 512/4096 packets and read requests of its
 * lower end, then of its upper one, "?" that the lower one does not tell them; "package" that it is
 * on the package; "lower" or "upper" that this end is QEMU's. */
static void read_hop(const char *text, struct xb_pcie_hop *hop, struct xb_pcie_seen *seen)
{
    struct xb_pcie_end *end = &hop->lower;
    char words[200], *rest = NULL;
    unsigned payload, request;
    snprintf(words, sizeof words, "%s", text);
    hop->has_upper = true;
    for (char *word = strtok_r(words, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest))
        if (sscanf(word, "%u/%u", &payload, &request) == 2) {
            end->control = control_of(payload, request);
            end = &hop->upper;
        } else if (sscanf(word, "%lfx%u", &seen->speed_gts, &seen->width) == 2)
            seen->readings = 1;
        else if (strcmp(word, "package") == 0)
            hop->on_package = true;
        else if (strcmp(word, "?") == 0)
            hop->lower.control.known = false;
        else
            (word[0] == 'l' ? &hop->lower : &hop->upper)->vendor = XB_VENDOR_QEMU;
}

/* HOP | HOP [| absent] */
static void say_path(const struct row *row, char said[ROW_TEXT])
{
    struct xb_pcie_path path = {.present = row->count == 2, .count = 2};
    struct xb_pcie_load load = {.count = 2};
    size_t narrowest = 9;
    for (size_t i = 0; i < 2; i++)
        read_hop(row->part[i], &path.hops[i], &load.hops[i]);
    struct xb_ceiling ceiling = xb_ceiling_of_path(&path, &load, &narrowest);
    if (!ceiling.known) {
        say_also(said, "not known");
        return;
    }
    say_also(said, "hop %zu, %gx%u: %.2f and %.2f GB/s; %u%s, %u%s", narrowest, ceiling.speed_gts,
             ceiling.width, ceiling.d2h / 1e9, ceiling.h2d / 1e9, ceiling.payload,
             ceiling.payload_assumed ? " assumed" : "", ceiling.read_request,
             ceiling.read_request_assumed ? " assumed" : "");
}
TEST_ROWS(ceilings_of_paths, say_path)
