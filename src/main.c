/* SPDX-License-Identifier: Apache-2.0 */
/* Which subcommand, and nothing else. */
#include "cli/cli.h"
#include "core/plain_text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* "run, list and help" */
static void name_all(char *text, size_t size)
{
    size_t length = 0;
    for (size_t i = 0; i < XB_COMMANDS && length < size; i++) {
        const char *separator = i == 0 ? "" : i + 1 < XB_COMMANDS ? ", " : " and ";
        length +=
            (size_t)snprintf(text + length, size - length, "%s%s", separator, xb_commands[i].name);
    }
}

static int unknown_command(const char *word)
{
    const char *names[XB_COMMANDS + 1] = {NULL};
    char all[256];
    (void)xb_command_names(names);
    name_all(all, sizeof all);
    const char *nearest = xb_nearest(word, names);
    if (nearest != NULL)
        xb_say("there is no command '%s'; did you mean '%s'?", word, nearest);
    else
        xb_say("there is no command '%s'; the commands are %s (see xferbench --help)", word, all);
    return XB_EXIT_USAGE;
}

static int dispatch(int argc, char **argv)
{
    if (argc < 2 || argv[1][0] == '-')
        return xb_command_run(argc, argv);
    const struct xb_command *command = xb_command_find(argv[1]);
    return command != NULL ? command->run(argc - 1, argv + 1) : unknown_command(argv[1]);
}

/* An answer that did not get out is a failure, also of --help. */
static int finish_stdout(int code)
{
    bool lost = ferror(stdout) != 0;
    if (fflush(stdout) == 0 && !lost)
        return code;
    xb_say("cannot write to standard output: %s",
           errno != 0 ? strerror(errno) : "an earlier write failed");
    return code == XB_EXIT_OK ? XB_EXIT_FAILED : code;
}

/* A stream that the caller closed would leave its number to the next file that is opened, and what
 * is said on stderr would land in that. Open for reading, so that writing still fails with EBADF.
 */
static void fill_closed_streams(void)
{
    int fd;
    do
        fd = open("/dev/null", O_RDONLY);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

int main(int argc, char **argv)
{
    struct xb_error error;
    fill_closed_streams();
    if (xb_registry_check(xb_backends, xb_modes, &error) != XB_OK)
        return xb_cli_fail(&error);
    return finish_stdout(dispatch(argc, argv));
}
