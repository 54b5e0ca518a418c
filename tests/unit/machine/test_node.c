/* SPDX-License-Identifier: Apache-2.0 */
/* What the environment says of the node and of the rank: node.txt sets variables. */
#define _POSIX_C_SOURCE 200809L
#include "cases.h"
#include "machine/node.h"

#include <inttypes.h>
#include <sys/utsname.h>

/* set NAME=VALUE... */
static void run_set(UNTOLD, char **words)
{
    for (char **word = words + 1; *word != NULL; word++) {
        char *value = strchr(*word, '=');
        *value = '\0';
        assert_int_equal(setenv(*word, value + 1, 1), 0);
        *value = '=';
    }
}

static void run_unset(UNTOLD, char **words)
{
    for (char **word = words + 1; *word != NULL; word++)
        assert_int_equal(unsetenv(*word), 0);
}

static void tell(FILE *told, NO_WORDS)
{
    struct utsname system;
    struct xb_node_name node;
    struct xb_launcher launcher;
    struct xb_error error = {0}, checked = {0};
    enum xb_status found, told_rank;
    assert_int_equal(uname(&system), 0);
    found = xb_node_find(&node, &error);
    if (found != XB_OK)
        fprintf(told, "refused: %s\n", error.message);
    else if (node.named_by != NULL)
        fprintf(told, "node %s, by %s\n", node.name, node.named_by);
    else if (strcmp(node.name, system.nodename) == 0)
        fputs("node as the host is called\n", told);
    else
        fprintf(told, "node %s\n", node.name);
    told_rank = xb_launcher_find(&launcher, &error);
    if (told_rank != XB_OK)
        fprintf(told, "refused: %s\n", error.message);
    else if (launcher.known)
        fprintf(told, "rank %" PRIu64 " of %" PRIu64 ", by %s\n", launcher.rank, launcher.ranks,
                launcher.named_by);
    else
        assert_true(launcher.ranks == 0 && launcher.named_by == NULL);
    assert_int_equal(xb_node_check(&checked), found != XB_OK ? found : told_rank);
    assert_true((found == XB_OK || found == XB_ERR_USAGE) &&
                (told_rank == XB_OK || told_rank == XB_ERR_USAGE));
}

static const struct verb verbs[] = {
    {"set", run_set},
    {"unset", run_unset},
    {"tell", tell},
    {NULL, NULL},
};

TEST_CASES(the_environment_names_node_and_rank, "machine/node", verbs, forget_launcher)
