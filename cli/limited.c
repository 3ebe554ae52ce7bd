/* Starting under a limit of memory.
 *
 * OpenBLAS makes a thread for each core when it is loaded, before main, and each asks for 128 MB,
 * again and again if the system has none. We never use these threads, but waiting for them would
 * never end. They are not made if the environment says so when OpenBLAS looks, and only functions
 * in .preinit_array are called before it does. So, if the address space is limited (ulimit -v), the
 * command starts itself anew there with what it needs in its environment. OpenMP, which CHOLMOD
 * brings along, ends the process if it cannot make a thread, and each thread's arena of the
 * allocator reserves 64 MB: both get the same treatment. No result depends on any of it. */
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MAX_VARIABLES = 4096 };

static const char *const wanted[] = {"OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=1",
                                     "MALLOC_ARENA_MAX=1"};
enum { NUM_WANTED = sizeof wanted / sizeof wanted[0] };

static bool same_name(const char *a, const char *b) {
    size_t length = strcspn(b, "=") + 1;
    return strncmp(a, b, length) == 0;
}

static bool is_replaced(const char *variable) {
    for (int k = 0; k < NUM_WANTED; ++k)
        if (same_name(variable, wanted[k]))
            return true;
    return false;
}

static void start_anew(int argc, char **argv, char **environment) {
    static char *changed[MAX_VARIABLES + NUM_WANTED + 1];
    struct rlimit limit;
    size_t num = 0, num_there = 0;
    (void)argc;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return;
    for (char **variable = environment; *variable != NULL && num < MAX_VARIABLES; ++variable) {
        for (int k = 0; k < NUM_WANTED; ++k)
            num_there += strcmp(*variable, wanted[k]) == 0;
        if (!is_replaced(*variable))
            changed[num++] = *variable;
    }
    if (num_there == NUM_WANTED)
        return;
    for (int k = 0; k < NUM_WANTED; ++k)
        changed[num++] = (char *)wanted[k];
    execve("/proc/self/exe", argv, changed); /* if that fails, things go on as they are */
}

__attribute__((section(".preinit_array"), used)) static void (*const first)(int, char **,
                                                                            char **) = start_anew;
