/* planarsfm doctor: what this build is made of, what the machine has, and what is missing. */
#include <cblas.h>
#include <cholmod.h>
#include <cjson/cJSON.h>
#include <hdf5.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli.h"
#include "core/base/context.h"
#include "core/base/cpu.h"
#include "images/image/image_codec.h"
#include "images/nn/kernels.h"
#include "planarsfm/version.h"
#include "report/report.h"

#ifdef PSFM_HAVE_ONEDNN
#include <oneapi/dnnl/dnnl.h>
#endif
#ifdef PSFM_HAVE_MPI
#include <mpi.h>
#endif

static const char *const positional[] = {NULL};

static void print_memory(void) {
    double page = (double)sysconf(_SC_PAGESIZE), giga = 1024.0 * 1024.0 * 1024.0;
    struct rlimit limit;
    printf("memory:        %.1f GiB", (double)sysconf(_SC_PHYS_PAGES) * page / giga);
#ifdef _SC_AVPHYS_PAGES
    printf(", %.1f free", (double)sysconf(_SC_AVPHYS_PAGES) * page / giga);
#endif
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        printf(", limited to %.1f for a process (ulimit -v)", (double)limit.rlim_cur / giga);
    putchar('\n');
}

/* An OpenBLAS older than the processor takes it for one of 2004, and large adjustments take several
 * times as long. */
static void print_blas(void) {
    printf("BLAS:          %s\n", openblas_get_config());
    if (psfm_cpu() == PSFM_CPU_PLAIN || strcmp(openblas_get_corename(), "Prescott") != 0)
        return;
    printf("               it does not know this processor; faster with OPENBLAS_CORETYPE=%s set\n",
           psfm_cpu() == PSFM_CPU_AVX512 ? "SkylakeX" : "Haswell");
}

static void print_neural(void) {
#ifdef PSFM_HAVE_ONEDNN
    const dnnl_version_t *version = dnnl_version();
    printf("oneDNN:        %d.%d.%d\n", version->major, version->minor, version->patch);
#else
    printf("oneDNN:        missing when this was built: OpenBLAS multiplies for the networks\n");
#endif
}

static void print_mpi(void) {
#ifdef PSFM_HAVE_MPI
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(version, &length);
    printf("MPI:           %.*s\n", (int)strcspn(version, ",\n"), version);
#else
    printf("MPI:           missing when this was built: one machine a run (libopenmpi-dev)\n");
#endif
}

static void print_codecs(void) {
    char text[128], label[16];
    for (const psfm_image_codec *const *codec = psfm_image_codecs; *codec != NULL; ++codec)
        if ((*codec)->library != NULL) {
            (*codec)->describe_library(text, sizeof text);
            snprintf(label, sizeof label, "%s:", (*codec)->library);
            printf("%-14s %s\n", label, text);
        }
}

static psfm_status print_hdf5(psfm_context *ctx) {
    unsigned major, minor, release;
    if (H5get_libversion(&major, &minor, &release) < 0)
        return psfm_fail(ctx, PSFM_ERR_IO, "HDF5 does not tell its version");
    printf("HDF5:          %u.%u.%u\n", major, minor, release);
    return PSFM_OK;
}

static psfm_status work_doctor(psfm_context *ctx, const cli_arguments *arguments) {
    static const char *const levels[] = {"plain", "AVX2", "AVX-512"};
    int cholmod[3];
    (void)arguments;
    cholmod_l_version(cholmod);
    printf("planarsfm:     %s\n", PSFM_VERSION);
    printf("instructions:  %s for matching and patches, %s for networks\n", levels[psfm_cpu()],
           psfm_kernels_best()->name);
    printf("threads:       %d of %ld processors\n", psfm_context_threads(ctx),
           sysconf(_SC_NPROCESSORS_ONLN));
    print_memory();
    print_blas();
    printf("CHOLMOD:       %d.%d.%d\n", cholmod[0], cholmod[1], cholmod[2]);
    printf("SQLite:        %s\n", sqlite3_libversion());
    print_codecs();
    print_mpi();
    printf("cJSON:         %s\n", cJSON_Version());
    psfm_status status = print_hdf5(ctx);
    print_neural();
    printf("3D in reports: %s\n",
           psfm_report_has_3d() ? "yes" : "missing when this was built (three.js)");
    return status;
}

const cli_command cli_doctor = {
    .name = "doctor",
    .summary = "what this build is made of, what the machine has, and what is missing",
    .usage = "",
    .description = "Version, instruction set, processors and memory, the libraries in use with\n"
                   "their versions, and what was missing when this was built. A report of a\n"
                   "problem is best begun with it.\n\n"
                   "    planarsfm doctor",
    .positional = positional,
    .work = work_doctor,
};
