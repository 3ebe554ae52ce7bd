/* Starting under a limit of memory.
 *
 * OpenBLAS makes a thread for each core when it is loaded, before main, and each asks for 128 MB,
 * again and again if the system has none. We never use these threads, but waiting for them would
 * never end, and a thread that cannot be made ends the process with SIGINT before main. They are
 * not made if the environment says so when OpenBLAS looks, and only functions in .preinit_array are
 * called before it does. A setenv there is lost, since the C library takes up the environment of
 * the start after them, and main comes too late for a message. So, if the address space is limited
 * (ulimit -v), the command starts itself anew there with what it needs in front of its environment,
 * where getenv looks first.
 * OpenMP, which CHOLMOD brings along, ends the process if it cannot make a thread, and each
 * thread's arena of the allocator reserves 64 MB: both get the same treatment. No result depends on
 * any of it. */
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MAX_VARIABLES = 4096 };

static void start_anew(int argc, char **argv, char **environment) {
    static char *changed[MAX_VARIABLES + 4] = {"MALLOC_ARENA_MAX=1", "OPENBLAS_NUM_THREADS=1",
                                               "OMP_NUM_THREADS=1"};
    struct rlimit limit;
    (void)argc;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
        (environment[0] != NULL && strcmp(environment[0], changed[0]) == 0))
        return;
    for (size_t k = 0; k < MAX_VARIABLES && environment[k] != NULL; ++k)
        changed[3 + k] = environment[k];
    execve("/proc/self/exe", argv, changed); /* if that fails, things go on as they are */
}

__attribute__((section(".preinit_array"), used)) static void (*const first)(int, char **,
                                                                            char **) = start_anew;
