/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts how often a program that it is loaded into compares texts: how much work a command does,
 * told without a clock. Written to the file that XB_CALLS in the environment names when the program
 * ends.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long calls;

int strcmp(const char *left, const char *right)
{
    calls++;
    while (*left != '\0' && *left == *right) {
        left++;
        right++;
    }
    return (unsigned char)*left - (unsigned char)*right;
}

__attribute__((destructor)) static void tell(void)
{
    const char *path = getenv("XB_CALLS");
    FILE *file = path != NULL ? fopen(path, "w") : NULL;
    if (file == NULL)
        return;
    fprintf(file, "%lu\n", calls);
    fclose(file);
}
