/* SPDX-License-Identifier: Apache-2.0 */
/* What was observed, read back: paths, links under load, health. */
#include "read_internal.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- a path ---- */

static void read_link(struct xb_json_reader *r, const cJSON *end, struct xb_pcie_link *link)
{
    const cJSON *object = xb_json_get_object(r, end, "link");
    size_t outer = xb_place_enter(&r->place, "link");
    link->speed_gts = xb_link_get_positive(r, object, "speed_gts");
    link->width = xb_link_get_known_whole(r, object, "width");
    link->max_speed_gts = xb_link_get_positive(r, object, "max_speed_gts");
    link->max_width = xb_link_get_known_whole(r, object, "max_width");
    link->known =
        link->speed_gts > 0 && link->width > 0 && link->max_speed_gts > 0 && link->max_width > 0;
    xb_place_leave(&r->place, outer);
}

static void read_aer(struct xb_json_reader *r, const cJSON *end, struct xb_pcie_aer *aer)
{
    const cJSON *object = xb_link_get_known_object(r, end, "aer");
    if (object == NULL)
        return;
    size_t outer = xb_place_enter(&r->place, "aer");
    aer->known = true;
    aer->correctable = xb_link_get_counter(r, object, "correctable");
    aer->nonfatal = xb_link_get_counter(r, object, "nonfatal");
    aer->fatal = xb_link_get_counter(r, object, "fatal");
    xb_place_leave(&r->place, outer);
}

static void read_control(struct xb_json_reader *r, const cJSON *end,
                         struct xb_pcie_control *control)
{
    const cJSON *object = xb_link_get_known_object(r, end, "control");
    if (object == NULL)
        return;
    size_t outer = xb_place_enter(&r->place, "control");
    control->known = true;
    control->max_payload = xb_link_get_whole(r, object, "max_payload_bytes");
    control->max_payload_supported = xb_link_get_whole(r, object, "max_payload_supported_bytes");
    control->max_read_request = xb_link_get_whole(r, object, "max_read_request_bytes");
    control->has_acs = xb_json_get_flag(r, object, "has_acs");
    control->acs_redirects = xb_json_get_flag(r, object, "acs_redirects");
    xb_place_leave(&r->place, outer);
}

static void read_end(struct xb_json_reader *r, const cJSON *object, const char *key,
                     struct xb_pcie_end *end)
{
    size_t outer = xb_place_enter(&r->place, key);
    xb_link_get_address(r, object, "bdf", end->bdf);
    end->vendor = xb_link_get_known_whole(r, object, "vendor");
    end->numa_node = xb_link_get_number(r, object, "numa_node");
    read_link(r, object, &end->link);
    read_aer(r, object, &end->aer);
    read_control(r, object, &end->control);
    memcpy(end->link.port, end->bdf, sizeof end->link.port);
    xb_place_leave(&r->place, outer);
}

static void read_hop(struct xb_json_reader *r, const cJSON *object, void *to)
{
    struct xb_pcie_hop *hop = to;
    const cJSON *upper = xb_link_get_known_object(r, object, "upper");
    hop->has_upper = upper != NULL;
    hop->on_package = xb_json_get_flag(r, object, "on_package");
    read_end(r, xb_json_get_object(r, object, "lower"), "lower", &hop->lower);
    if (hop->has_upper)
        read_end(r, upper, "upper", &hop->upper);
}

static void read_path(struct xb_json_reader *r, const cJSON *attempt, const char *key,
                      struct xb_pcie_path *path)
{
    const cJSON *object = xb_link_get_known_object(r, attempt, key);
    if (object == NULL)
        return;
    size_t outer = xb_place_enter(&r->place, key);
    path->present = true;
    if (xb_link_has(object, "dead")) /* Early files have none. */
        path->dead = xb_json_get_flag(r, object, "dead");
    path->numa_node = xb_link_get_number(r, object, "numa_node");
    xb_link_copy_text(xb_link_get_known_text(r, object, "local_cpus"), path->local_cpus,
                      sizeof path->local_cpus);
    path->iommu_group = xb_link_get_number(r, object, "iommu_group");
    path->count = xb_link_read_array(r, object, "hops", read_hop, path->hops, sizeof *path->hops,
                                     XB_PCIE_HOPS);
    xb_place_leave(&r->place, outer);
}

/* ---- an attempt ---- */

static void read_seen(struct xb_json_reader *r, const cJSON *object, void *to)
{
    struct xb_pcie_seen *seen = to;
    seen->readings = xb_link_get_whole(r, object, "readings");
    seen->speed_gts = xb_link_get_positive(r, object, "speed_gts");
    seen->width = xb_link_get_known_whole(r, object, "width");
    seen->changes = xb_link_get_whole(r, object, "changes");
    if (xb_link_has(object, "drops")) /* Early files have none. */
        seen->drops = xb_link_get_whole(r, object, "drops");
}

static void read_load(struct xb_json_reader *r, const cJSON *attempt, struct xb_pcie_load *load)
{
    const cJSON *object = xb_json_get_object(r, attempt, "under_load");
    size_t outer = xb_place_enter(&r->place, "under_load");
    load->gone = xb_json_get_flag(r, object, "gone");
    load->count = xb_link_read_array(r, object, "hops", read_seen, load->hops, sizeof *load->hops,
                                     XB_PCIE_HOPS);
    xb_place_leave(&r->place, outer);
}

/* One link and its number, until it is known where it belongs. */
struct numbered {
    unsigned number;
    struct xb_nvlink link;
};

static void read_nvlink(struct xb_json_reader *r, const cJSON *object, void *to)
{
    struct numbered *read = to;
    read->number = (unsigned)xb_json_get_whole(r, object, "link", 0, XB_NVLINKS - 1);
    read->link.known = true;
    read->link.active = xb_json_get_flag(r, object, "active");
    read->link.rate = xb_link_get_positive(r, object, "rate_bytes_per_second");
    for (enum xb_nvlink_counter i = 0; i < XB_NVLINK_COUNTERS; i++) {
        const char *key = xb_nvlink_counter_key(i);
        read->link.counted[i] = xb_link_is_known(r, object, key);
        if (read->link.counted[i])
            read->link.counts[i] = xb_link_get_counter(r, object, key);
    }
}

static void read_nvlinks(struct xb_json_reader *r, const cJSON *object,
                         struct xb_device_health *health)
{
    struct numbered links[XB_NVLINKS] = {{.number = 0}};
    if (!xb_link_is_known(r, object, "nvlinks"))
        return;
    size_t count =
        xb_link_read_array(r, object, "nvlinks", read_nvlink, links, sizeof *links, XB_NVLINKS);
    for (size_t i = 0; i < count; i++)
        health->nvlinks[links[i].number] = links[i].link;
}

static void read_counters(struct xb_json_reader *r, const cJSON *health,
                          struct xb_device_health *to)
{
    if (!xb_link_has(health, "pcie_counters")) /* Early files have none. */
        return;
    const cJSON *object = xb_json_get_object(r, health, "pcie_counters");
    size_t outer = xb_place_enter(&r->place, "pcie_counters");
    for (enum xb_pcie_counter i = 0; i < XB_PCIE_COUNTERS; i++) {
        to->counted[i] = xb_link_is_known(r, object, xb_pcie_counter_key(i));
        if (to->counted[i])
            to->counts[i] = xb_link_get_counter(r, object, xb_pcie_counter_key(i));
    }
    xb_place_leave(&r->place, outer);
}

/* 0 for null. */
static double get_number(struct xb_json_reader *r, const cJSON *object, const char *key)
{
    double value = xb_json_get_known_number(r, object, key, DBL_MAX);
    return isnan(value) ? 0 : value;
}

static void read_conditions(struct xb_json_reader *r, const cJSON *both, const char *key,
                            struct xb_link_conditions *seen)
{
    const cJSON *object = xb_json_get_object(r, both, key);
    size_t outer = xb_place_enter(&r->place, key);
    seen->seconds = get_number(r, object, "seconds");
    seen->cpus = xb_link_get_known_whole(r, object, "cpus");
    seen->cpus_busy = get_number(r, object, "cpus_busy");
    seen->load_s = get_number(r, object, "load_seconds");
    seen->traffic_known = xb_link_is_known(r, object, "sent_bytes_per_second") &&
                          xb_link_is_known(r, object, "received_bytes_per_second");
    seen->sent = get_number(r, object, "sent_bytes_per_second");
    seen->received = get_number(r, object, "received_bytes_per_second");
    seen->memory_mhz = xb_link_get_known_whole(r, object, "memory_clock_mhz");
    seen->memory_best_mhz = xb_link_get_known_whole(r, object, "memory_clock_best_mhz");
    seen->slowed_by_hardware = xb_json_get_flag(r, object, "slowed_by_hardware");
    xb_link_copy_text(xb_link_get_text(r, object, "throttle"), seen->throttle,
                      sizeof seen->throttle);
    if (xb_link_is_known(r, object, "retrains"))
        seen->retrains = xb_link_get_counter(r, object, "retrains");
    seen->memory_is_far = xb_json_get_flag(r, object, "memory_is_far");
    seen->mean = get_number(r, object, "mean_bytes_per_second");
    seen->fastest = get_number(r, object, "fastest_bytes_per_second");
    xb_place_leave(&r->place, outer);
}

/* Numbers that the library tells together are known together: one null is enough. */
void xb_link_read_health(struct xb_json_reader *r, const cJSON *attempt, const char *key,
                         struct xb_device_health *health)
{
    const cJSON *object = xb_json_get_object(r, attempt, key);
    size_t outer = xb_place_enter(&r->place, key);
    health->replays_known = xb_link_is_known(r, object, "replays");
    if (health->replays_known)
        health->replays = xb_link_get_counter(r, object, "replays");
    read_counters(r, object, health);
    health->clocks_known = xb_link_is_known(r, object, "sm_clock_mhz") &&
                           xb_link_is_known(r, object, "memory_clock_mhz");
    health->sm_clock_mhz = xb_link_get_known_whole(r, object, "sm_clock_mhz");
    health->memory_clock_mhz = xb_link_get_known_whole(r, object, "memory_clock_mhz");
    health->throttle_known = xb_link_is_known(r, object, "slowed_by_hardware") &&
                             xb_link_is_known(r, object, "throttle");
    if (health->throttle_known)
        health->slowed_by_hardware = xb_json_get_flag(r, object, "slowed_by_hardware");
    xb_link_copy_text(xb_link_get_known_text(r, object, "throttle"), health->throttle,
                      sizeof health->throttle);
    health->nvlinks_known = xb_link_is_known(r, object, "nvlinks_active") &&
                            xb_link_is_known(r, object, "nvlinks_inactive");
    health->nvlinks_active = xb_link_get_known_whole(r, object, "nvlinks_active");
    health->nvlinks_inactive = xb_link_get_known_whole(r, object, "nvlinks_inactive");
    if (xb_link_has(object,
                    "nvlinks")) /* Early files have only a sum, of which part is no errors. */
        read_nvlinks(r, object, health);
    xb_place_leave(&r->place, outer);
}

void xb_link_read_attempt(struct xb_json_reader *r, const cJSON *object, void *to)
{
    struct xb_link_attempt *attempt = to;
    attempt->h2d = xb_link_get_positive(r, object, "h2d_bytes_per_second");
    attempt->d2h = xb_link_get_positive(r, object, "d2h_bytes_per_second");
    attempt->data_wrong = xb_json_get_flag(r, object, "data_wrong");
    xb_link_copy_text(xb_link_get_known_text(r, object, "failure"), attempt->failure,
                      sizeof attempt->failure);
    read_path(r, object, "at_rest", &attempt->at_rest);
    read_load(r, object, &attempt->load);
    read_path(r, object, "after", &attempt->after);
    xb_link_read_health(r, object, "health_before", &attempt->health_before);
    xb_link_read_health(r, object, "health_after", &attempt->health_after);
    if (xb_link_has(object, "health_seconds")) /* Early files have none. */
        attempt->health_seconds = xb_link_get_positive(r, object, "health_seconds");
    if (!xb_link_has(object, "conditions"))
        return;
    const cJSON *both = xb_json_get_object(r, object, "conditions");
    size_t outer = xb_place_enter(&r->place, "conditions");
    read_conditions(r, both, "h2d", &attempt->conditions[0]);
    read_conditions(r, both, "d2h", &attempt->conditions[1]);
    xb_place_leave(&r->place, outer);
}
