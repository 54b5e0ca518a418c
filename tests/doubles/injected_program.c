/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* RTLD_NEXT */
/*
 * In place of a CUDA program: loads what CUDA_INJECTION64_PATH names and calls it, as the driver
 * does, and then does what its words say: "reset", "fork", "exit CODE" or "_exit CODE". With
 * XFERBENCH_FAKE_CUPTI=absent in the environment no libcupti is found.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* In the way of the collector's calls, whatever the machine has. */
void *dlopen(const char *file, int mode)
{
    void *(*real)(const char *, int);
    const char *word = getenv("XFERBENCH_FAKE_CUPTI");
    *(void **)&real = dlsym(RTLD_NEXT, "dlopen");
    if (word != NULL && strcmp(word, "absent") == 0 && strstr(file, "libcupti") != NULL)
        return NULL;
    return real(file, mode);
}

static void call(void *library, const char *name)
{
    void (*function)(void);
    *(void **)&function = library != NULL ? dlsym(library, name) : NULL;
    if (function == NULL)
        abort();
    function();
}

int main(int argc, char **argv)
{
    const char *path = getenv("CUDA_INJECTION64_PATH");
    call(path != NULL ? dlopen(path, RTLD_NOW) : NULL, "InitializeInjection");
    const char *marks = getenv("NVTX_INJECTION64_PATH");
    printf("ran, NVTX_INJECTION64_PATH=%s\n", marks != NULL ? marks : "");
    fflush(stdout);
    for (int i = 1; i < argc; i++) {
        pid_t child = strcmp(argv[i], "fork") == 0 ? fork() : -1;
        if (strcmp(argv[i], "reset") == 0 || child == 0)
            call(dlopen("libcupti.so.13", RTLD_NOW | RTLD_NOLOAD), "fake_cupti_end_context");
        if (child == 0)
            return 0; /* its functions for the exit run, too */
        if (child > 0)
            (void)wait(NULL);
        else if (strcmp(argv[i], "exit") == 0)
            return atoi(argv[i + 1]);
        else if (strcmp(argv[i], "_exit") == 0)
            _exit(atoi(argv[i + 1]));
    }
    return 0;
}
