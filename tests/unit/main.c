/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

int main(int argc, char **argv)
{
    return argc == 2 ? run_topic(argv[1]) : EXIT_FAILURE;
}
