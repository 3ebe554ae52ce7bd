/* Starting under a limit of memory (ulimit -v).
 *
 * OpenBLAS makes a thread for each core when it is loaded, before main. Each asks for 128 MB, and
 * again without end if the system has none; a thread that cannot be made ends the process by a
 * signal. We never use these threads, but what has begun to wait for memory cannot be ended. Only
 * functions in .preinit_array are called before OpenBLAS begins. So there it is looked whether its
 * threads have room, and where they have not, a sentence says what to set. */
#define _GNU_SOURCE /* sched_getaffinity */
#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* What the libraries take, and a thread: a buffer, a stack, an arena of the allocator, which
 * reserves twice of what it keeps. */
#define START_BYTES ((rlim_t)128 << 20)
#define THREAD_BYTES ((rlim_t)(128 + 8 + 2 * 64) << 20)

/* The number in front of a text; 0: none. */
static rlim_t leading_number(const char *text) {
    rlim_t number = 0;
    for (; *text >= '0' && *text <= '9' && number < 100000; ++text)
        number = 10 * number + (rlim_t)(*text - '0');
    return number;
}

/* How many threads OpenBLAS will have: as many as the first of these variables says, and no more
 * than there are processors. */
static rlim_t count_threads(char **environment) {
    static const char *const names[] = {
        "OPENBLAS_NUM_THREADS=", "GOTO_NUM_THREADS=", "OMP_NUM_THREADS="};
    cpu_set_t set;
    const rlim_t most =
        sched_getaffinity(0, sizeof set, &set) == 0 ? (rlim_t)CPU_COUNT(&set) : CPU_SETSIZE;
    for (size_t k = 0; k < sizeof names / sizeof *names; ++k) {
        const size_t length = strlen(names[k]);
        for (size_t v = 0; environment[v] != NULL; ++v) {
            const rlim_t number = strncmp(environment[v], names[k], length) == 0
                                      ? leading_number(environment[v] + length)
                                      : 0;
            if (number > 0)
                return number < most ? number : most;
        }
    }
    return most;
}

static void look_for_room(int argc, char **argv, char **environment) {
    static const char sentence[] =
        "planarsfm: the limit of memory (ulimit -v) is too small for the threads that OpenBLAS "
        "starts with; set OPENBLAS_NUM_THREADS=1\n";
    struct rlimit limit;
    (void)argc, (void)argv;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return;
    const rlim_t threads = count_threads(environment);
    if (threads > 1 && limit.rlim_cur < START_BYTES + threads * THREAD_BYTES)
        _exit(write(STDERR_FILENO, sentence, sizeof sentence - 1) < 0 ? 2 : 1);
}

__attribute__((section(".preinit_array"),
               used)) static void (*const first)(int, char **, char **) = look_for_room;
