/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* adjtimex, nanosleep */
#include "node.h"

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timex.h>
#include <sys/utsname.h>

/* The variable's value; NULL if it is not set or empty. */
static const char *find_value(const char *variable)
{
    const char *value = getenv(variable);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

/* ---- the node's name ---- */

/* Why a text is no name; NULL if it is one. */
static const char *name_fault(const char *text)
{
    size_t length = strlen(text);
    if (length == 0)
        return "is empty";
    if (length >= XB_NODE_NAME)
        return "is too long";
    if (strcmp(text, ".") == 0 || strcmp(text, "..") == 0)
        return "is a folder's name";
    if (strchr(text, '/') != NULL)
        return "has a '/'";
    for (; *text != '\0'; text += xb_utf8_length(text))
        if (xb_utf8_is_harmful(text))
            return "has a character that cannot be shown";
    return NULL;
}

static enum xb_status take_name(struct xb_node_name *node, const char *variable, const char *text,
                                struct xb_error *error)
{
    const char *fault = name_fault(text);
    if (fault != NULL)
        return XB_FAIL(error, XB_ERR_USAGE, "%s%s \"%.60s\" %s: set %s to a name such as gpu007",
                       variable != NULL ? variable : "the host name",
                       variable != NULL ? " should name this node, but" : "", text, fault,
                       XB_NODE_VARIABLE);
    snprintf(node->name, sizeof node->name, "%s", text);
    node->named_by = variable;
    return XB_OK;
}

const char *xb_node_text(const char *name, const char *hostname, char *text)
{
    const char *node = name != NULL ? name : hostname != NULL ? hostname : "";
    bool has_other = hostname != NULL && strcmp(hostname, node) != 0;
    snprintf(text, XB_NODE_TEXT, "%.*s%s%.*s%s", XB_NODE_NAME - 1, node, has_other ? " (host " : "",
             XB_NODE_NAME - 1, has_other ? hostname : "", has_other ? ")" : "");
    return text;
}

/* ---- the rank ---- */

enum { OMPI, PMI, PMIX, SLURM };

/* A launcher's variables; NULL for those that it does not set. */
static const struct {
    const char *rank;
    const char *ranks[3]; /* the first that is set counts */
} kinds[] = {
    [OMPI] = {"OMPI_COMM_WORLD_RANK", {"OMPI_COMM_WORLD_SIZE"}},
    [PMI] = {"PMI_RANK", {"PMI_SIZE"}},
    [PMIX] = {"PMIX_RANK", {NULL}},
    /* The first counts the step that srun started; the others may count the whole job. */
    [SLURM] = {"SLURM_PROCID", {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS", "SLURM_NPROCS"}},
};

enum xb_status xb_node_find(struct xb_node_name *node, struct xb_error *error)
{
    static const char *const variables[] = {XB_NODE_VARIABLE, "SLURMD_NODENAME"};
    const char *rank = find_value(kinds[OMPI].rank) == NULL ? find_value(kinds[PMI].rank) : NULL;
    const char *of_slurm = find_value(kinds[SLURM].rank);
    /* mpiexec of MPICH and of Intel hands a batch script's whole environment on to all nodes, with
     * its SLURMD_NODENAME and its SLURM_PROCID 0: these are not of this process. */
    bool is_handed_on = rank != NULL && of_slurm != NULL && strcmp(rank, of_slurm) != 0;
    size_t count = is_handed_on ? 1 : sizeof variables / sizeof variables[0];
    struct utsname system = {.nodename = ""};
    for (size_t i = 0; i < count; i++) {
        const char *value = find_value(variables[i]);
        if (value != NULL)
            return take_name(node, variables[i], value, error);
    }
    (void)uname(&system); /* it fails for a bad address only */
    return take_name(node, NULL, system.nodename, error);
}

/* A whole number in plain digits, from `least` to `most`. */
static enum xb_status take_number(const char *variable, const char *text, uint64_t least,
                                  uint64_t most, uint64_t *number, struct xb_error *error)
{
    struct xb_error ignored;
    if (strlen(text) <= 9 && xb_count_parse(text, least, most, number, &ignored) == XB_OK)
        return XB_OK;
    return XB_FAIL(error, XB_ERR_USAGE,
                   "%s should hold what the launcher told, but \"%.40s\" is no whole number from "
                   "%u to %u: unset it",
                   variable, text, (unsigned)least, (unsigned)most);
}

enum xb_status xb_launcher_find(struct xb_launcher *launcher, struct xb_error *error)
{
    size_t which = 0;
    uint64_t rank = 0;
    *launcher = (struct xb_launcher){.known = false};
    while (which < sizeof kinds / sizeof kinds[0] && find_value(kinds[which].rank) == NULL)
        which++;
    if (which == sizeof kinds / sizeof kinds[0])
        return XB_OK;
    const char *name = kinds[which].rank, *value = find_value(name);
    XB_TRY(take_number(name, value, 0, XB_RANKS - 1, &rank, error));
    /* PMIx has no variable for the number of ranks. If srun uses PMIx, Slurm's own variables have
     * the same rank, and the number too. */
    const char *of_slurm = find_value(kinds[SLURM].rank);
    bool counts_slurm = which == PMIX && of_slurm != NULL && strcmp(of_slurm, value) == 0;
    const char *const *ranks = kinds[counts_slurm ? SLURM : which].ranks;
    for (size_t i = 0; i < sizeof kinds->ranks / sizeof kinds->ranks[0]; i++) {
        const char *text = ranks[i] != NULL ? find_value(ranks[i]) : NULL;
        if (text == NULL)
            continue;
        XB_TRY(take_number(ranks[i], text, 1, XB_RANKS, &launcher->ranks, error));
        break; /* the first that is set counts */
    }
    if (launcher->ranks > 0 && rank >= launcher->ranks)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "%s is %u, but there are only %u ranks, counted from 0: start xferbench "
                       "with the launcher, or unset %s",
                       name, (unsigned)rank, (unsigned)launcher->ranks, name);
    launcher->known = true;
    launcher->rank = rank;
    launcher->named_by = name;
    return XB_OK;
}

enum xb_status xb_node_check(struct xb_error *error)
{
    struct xb_node_name node;
    struct xb_launcher launcher;
    XB_TRY(xb_node_find(&node, error));
    return xb_launcher_find(&launcher, error);
}

/* ---- the start ---- */

/* So often it looks for a signal. */
#define GLANCE_S 0.05

const char *xb_start_warning(double late_s, const struct xb_clock_state *clock, char *text)
{
    char late[32] = "";
    bool is_late = late_s > XB_START_LATE_S;
    bool is_free = clock->is_known && !clock->is_synchronised;
    if (!is_late && !is_free)
        return NULL;
    if (is_late)
        xb_duration_format(late_s, late, sizeof late);
    snprintf(text, XB_START_WARNING, "%s%s%s%s%s", is_late ? "this node began " : "", late,
             is_late ? " after the agreed time" : "", is_late && is_free ? "; " : "",
             is_free ? "this node's clock is not synchronised (chronyd, ntpd): it may have "
                       "begun at another time than the others"
                     : "");
    return text;
}

void xb_start_wait(double at, double deadline, struct xb_start *start)
{
    struct timex state = {.modes = 0};
    *start = (struct xb_start){.asked = at};
    if (adjtimex(&state) >= 0)
        start->clock = (struct xb_clock_state){.is_known = true,
                                               .is_synchronised = (state.status & STA_UNSYNC) == 0,
                                               .error_s = (double)state.maxerror * 1e-6};
    /* Sleeps until a time of day, not for a duration: if somebody sets the clock meanwhile, the
     * start moves with it. */
    double left;
    while (at > 0 && (left = at - xb_day_time_now()) > 0) {
        struct timespec time = {.tv_nsec = (long)(fmin(left, GLANCE_S) * 1e9)};
        if (xb_interrupt_signal() != 0 || (deadline > 0 && xb_clock_now() >= deadline))
            return;
        (void)nanosleep(&time, NULL);
    }
    start->began = xb_day_time_now();
}
