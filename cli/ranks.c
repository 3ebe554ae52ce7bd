/* The ranks of a command, by MPI.
 *
 * MPI is started only if mpirun or srun started the command, which the environment tells: Open MPI,
 * MPICH and Slurm each leave variables there. The first rank parses the arguments, reads, writes
 * and prints; the others compute tasks and are silent. Only the main thread uses MPI.
 *
 * If a rank dies, mpirun ends the others by SIGTERM. The first one says so and ends at once: what
 * it wrote is whole, and the next run goes on from there. */
#include "ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What is set in the processes of a run, and which tells how many or the how many-th. */
static const char *const variables[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"};

static bool is_launched(void) {
    for (size_t k = 0; k < sizeof variables / sizeof *variables; ++k)
        if (getenv(variables[k]) != NULL)
            return true;
    return false;
}

#ifdef PSFM_HAVE_MPI
#include <limits.h>
#include <mpi.h>
#include <signal.h>
#include <time.h>

#include "core/base/alloc.h"
#include "core/linalg/blas_reserve.h"
#include "core/tasks/tasks.h"
#include "core/twoview/two_view_tasks.h"
#include "frontend/feature_tasks.h"
#include "frontend/match_tasks.h"
#include "images/photometric/pair_tasks.h"
#include "images/photometric/track_tasks.h"

enum { TAG = 1 };

/* A message on its way. */
typedef struct {
    MPI_Request request;
    psfm_message message;
} letter;

static struct {
    bool is_open;
    int num_here; /* ranks on this machine */
    psfm_link link;
    letter *out;
    size_t num_out, capacity;
} ranks;

/* ---- the link ---- */

static void drop_delivered(void) {
    size_t kept = 0;
    for (size_t k = 0; k < ranks.num_out; ++k) {
        int is_done = 0;
        MPI_Test(&ranks.out[k].request, &is_done, MPI_STATUS_IGNORE);
        if (is_done)
            psfm_message_free(&ranks.out[k].message);
        else
            ranks.out[kept++] = ranks.out[k];
    }
    ranks.num_out = kept;
}

static psfm_status send_by_mpi(psfm_link *link, psfm_context *ctx, int to, psfm_message *message) {
    (void)link;
    drop_delivered();
    if (message->size > INT_MAX)
        return psfm_fail(ctx, PSFM_ERR_DATA, "a message of %zu bytes is too large for MPI",
                         message->size);
    psfm_status status = PSFM_RESERVE(ctx, &ranks.out, &ranks.capacity, ranks.num_out + 1);
    if (status != PSFM_OK)
        return status;
    letter *sent = &ranks.out[ranks.num_out++];
    sent->message = *message;
    *message = (psfm_message){0};
    MPI_Isend(sent->message.bytes, (int)sent->message.size, MPI_BYTE, to, TAG, MPI_COMM_WORLD,
              &sent->request);
    return PSFM_OK;
}

static psfm_status receive_by_mpi(psfm_link *link, psfm_context *ctx, int *from,
                                  psfm_message *message) {
    (void)link;
    MPI_Status found;
    int is_there = 0, size = 0;
    *from = -1;
    drop_delivered();
    MPI_Iprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &is_there, &found);
    if (!is_there)
        return PSFM_OK;
    MPI_Get_count(&found, MPI_BYTE, &size);
    psfm_status status = PSFM_RESERVE(ctx, &message->bytes, &message->capacity, (size_t)size);
    if (status != PSFM_OK)
        return status;
    MPI_Recv(message->bytes, size, MPI_BYTE, found.MPI_SOURCE, TAG, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    message->size = (size_t)size;
    *from = found.MPI_SOURCE;
    return PSFM_OK;
}

/* ---- starting and ending ---- */

static void say_stopped(int number) {
    static const char text[] =
        "planarsfm: stopped from outside, or because another rank ended; the "
        "same command goes on from here\n";
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0)
        _exit(128 + number); /* nobody to tell */
    _exit(128 + number);
}

static void find_neighbours(void) {
    MPI_Comm here;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
    MPI_Comm_size(here, &ranks.num_here);
    MPI_Comm_free(&here);
}

bool cli_ranks_open(void) {
    int level;
    if (!is_launched())
        return true;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS)
        return false;
    ranks.is_open = true;
    ranks.link = (psfm_link){.send = send_by_mpi, .receive = receive_by_mpi};
    MPI_Comm_rank(MPI_COMM_WORLD, &ranks.link.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks.link.num_ranks);
    find_neighbours();
    if (ranks.link.rank == 0 && ranks.link.num_ranks > 1)
        signal(SIGTERM, say_stopped);
    return true;
}

/* Waits until everything that was sent is taken. */
static void finish_sending(void) {
    const struct timespec pause = {.tv_nsec = 1000000};
    for (drop_delivered(); ranks.num_out > 0; drop_delivered())
        nanosleep(&pause, NULL);
    free(ranks.out);
    ranks.out = NULL;
}

static psfm_status serve_tasks(psfm_context *ctx) {
    static const psfm_task_kind *const kinds[] = {&psfm_feature_tasks,
                                                  &psfm_match_tasks,
                                                  &psfm_two_view_tasks,
                                                  &psfm_corner_tasks,
                                                  &psfm_pair_tasks,
                                                  &psfm_track_tasks,
                                                  NULL};
    psfm_context_set_share(ctx, ranks.num_here);
    psfm_status status = psfm_blas_reserve(ctx);
    return status == PSFM_OK ? psfm_tasks_serve(ctx, &ranks.link, kinds) : status;
}

bool cli_ranks_serve(int *code) {
    if (!ranks.is_open || ranks.link.rank == 0)
        return false;
    psfm_context *ctx = psfm_context_create();
    psfm_status status = ctx == NULL ? PSFM_ERR_MEMORY : serve_tasks(ctx);
    *code = status != PSFM_OK;
    if (status != PSFM_OK) { /* the first rank cannot know */
        fprintf(stderr, "planarsfm: rank %d: %s\n", ranks.link.rank,
                ctx == NULL ? "out of memory" : psfm_context_message(ctx));
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    finish_sending();
    psfm_context_destroy(&ctx);
    MPI_Finalize();
    return true;
}

void cli_ranks_attach(psfm_context *ctx) {
    if (!ranks.is_open)
        return;
    psfm_context_set_share(ctx, ranks.num_here);
    if (ranks.link.num_ranks > 1)
        psfm_context_set_link(ctx, &ranks.link);
}

void cli_ranks_close(void) {
    if (!ranks.is_open)
        return;
    if (psfm_tasks_dismiss(NULL, &ranks.link) != PSFM_OK)
        MPI_Abort(MPI_COMM_WORLD, 1);
    finish_sending();
    MPI_Finalize();
}

#else

/* Every process would do the same work in the same place. */
bool cli_ranks_open(void) {
    const char *size = getenv("OMPI_COMM_WORLD_SIZE"), *rank = getenv("OMPI_COMM_WORLD_RANK");
    size = size == NULL ? getenv("PMI_SIZE") : size;
    rank = rank == NULL ? getenv("PMI_RANK") : rank;
    rank = rank == NULL ? getenv("PMIX_RANK") : rank;
    if (!is_launched() || (size != NULL && strcmp(size, "1") == 0))
        return true;
    if (rank == NULL || strcmp(rank, "0") == 0)
        fprintf(stderr,
                "planarsfm: it was built without MPI and runs in one process only; start it "
                "without mpirun, or build it where MPI is installed\n");
    return false;
}

bool cli_ranks_serve(int *code) {
    (void)code;
    return false;
}

void cli_ranks_attach(psfm_context *ctx) {
    (void)ctx;
}

void cli_ranks_close(void) {
}
#endif
