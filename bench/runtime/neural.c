/* Time of the neural front end, whole networks: pixels to features, features to matches.
 *
 * usage: bench_neural [--quick] [--case TEXT] [--torch SCRIPT]
 *
 * Weights are random numbers in the shapes of the real ones. For each case and for one and two
 * threads: milliseconds by the clock and of CPU time (the least of several runs), GFLOP/s by the
 * clock, counted as direct convolutions and plain products, and the share of what this machine's
 * matrix product reaches, measured here. The share compares CPU times, which a busy machine
 * disturbs less. With --torch bench/runtime/neural_torch.py the same cases run in PyTorch, each
 * right after ours; the environment variable PYTHON names the interpreter. --quick: few runs, small
 * cases. --case: only those with TEXT in their name. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../network_weights.h"
#include "core/base/rng.h"
#include "core/base/timer.h"
#include "images/feature/detector.h"
#include "images/match/lightglue.h"
#include "images/match/superglue.h"

#define MAX_THREADS 2

static void check(psfm_context *ctx, psfm_status status) {
    if (status == PSFM_OK)
        return;
    fprintf(stderr, "bench_neural: %s\n", psfm_context_message(ctx));
    exit(1);
}

typedef enum { SUPERPOINT, XFEAT, SUPERGLUE, LIGHTERGLUE, LIGHTGLUE } network;

typedef struct {
    const char *name; /* also neural_torch.py's */
    network net;
    size_t width, height; /* of the image, or number of keypoints and 0 */
    bool quick;
} bench_case;

static const bench_case cases[] = {
    {"superpoint_640x480", SUPERPOINT, 640, 480, true},
    {"superpoint_1024x768", SUPERPOINT, 1024, 768, false},
    {"superglue_1024", SUPERGLUE, 1024, 0, true},
    {"superglue_2048", SUPERGLUE, 2048, 0, false},
    {"xfeat_640x480", XFEAT, 640, 480, true},
    {"xfeat_1024x768", XFEAT, 1024, 768, false},
    {"lighterglue_1024", LIGHTERGLUE, 1024, 0, true},
    {"lighterglue_2048", LIGHTERGLUE, 2048, 0, false},
    {"lightglue_1024", LIGHTGLUE, 1024, 0, false},
};

static void make_weights(network net, weights_file *w) {
    weights_open(w, 1);
    if (net == SUPERPOINT)
        weights_superpoint(w);
    else if (net == XFEAT)
        weights_xfeat(w);
    else if (net == SUPERGLUE)
        weights_superglue(w, 18);
    else
        weights_lightglue(w, net == LIGHTGLUE ? 9 : 6, net == LIGHTGLUE ? 256 : 96,
                          net == LIGHTGLUE ? 4 : 1, net == LIGHTGLUE ? 0 : 64);
    weights_close(w, NULL);
}

/* A network with its input, ready to run. */
typedef struct {
    psfm_context *ctx;
    void *superpoint;
    void *xfeat;
    psfm_superglue *superglue;
    psfm_lightglue *lightglue;
    psfm_gray_view image;
    uint8_t *pixels;
    psfm_keypoint_set features[2];
    double flops;
} subject;

static void make_features(subject *s, size_t num, size_t dim) {
    psfm_rng rng = psfm_rng_make(2, PSFM_RNG_BENCH, 0, 0);
    for (int k = 0; k < 2; ++k) {
        psfm_keypoint_set *f = &s->features[k];
        check(s->ctx, psfm_neural_features_init(s->ctx, num, dim, f));
        for (size_t i = 0; i < num; ++i) {
            f->keypoints[i].x = (float)psfm_rng_range(&rng, 0, 640);
            f->keypoints[i].y = (float)psfm_rng_range(&rng, 0, 480);
            f->scores[i] = (float)psfm_rng_uniform(&rng);
        }
        for (size_t i = 0; i < num * dim; ++i)
            f->descriptors_f32[i] = (float)(psfm_rng_normal(&rng) / sqrt((double)dim));
    }
}

static void make_image(subject *s, size_t width, size_t height) {
    psfm_rng rng = psfm_rng_make(3, PSFM_RNG_BENCH, 0, 0);
    s->pixels = malloc(width * height);
    for (size_t i = 0; s->pixels != NULL && i < width * height; ++i)
        s->pixels[i] = (uint8_t)psfm_rng_below(&rng, 256);
    s->image = (psfm_gray_view){s->pixels, width, height, width};
}

/* Operations of the matrix products of SuperGlue for num keypoints each: its encoder's layers, then
 * as many layers within an image as across. */
static double count_superglue(double num, double layers) {
    const double d = 256, points = 2 * num;
    double encoder = points * (3 * 32 + 32 * 64 + 64 * 128 + 128 * 256 + 256 * 256);
    double linear = points * d * d * (3 + 1 + 4 + 2); /* Q, K, V, W, MLP */
    return 2 * (encoder + layers * (linear + 4 * d * num * num) + points * d * d + num * num * d);
}

/* Those of LightGlue, all layers; dim_in differs from d where a layer in front takes it there. */
static double count_lightglue(double num, double layers, double d, double dim_in) {
    const double points = 2 * num;
    double within = points * d * d * (3 + 1 + 4 + 2) + 4 * d * num * num;
    double across = points * d * d * (2 + 1 + 4 + 2) + 4 * d * num * num;
    double input = dim_in == d ? 0 : points * d * dim_in;
    return 2 * (input + layers * (within + across) + points * d * d + num * num * d);
}

/* Of the convolutions of a pixel, counted as direct ones. */
#define SUPERPOINT_FLOPS 169608.0
#define XFEAT_FLOPS 8535.0

static void make_subject(psfm_engine *nn, const bench_case *c, const char *path, subject *s) {
    psfm_context *ctx = s->ctx;
    if (c->height != 0)
        make_image(s, c->width, c->height);
    switch (c->net) {
    case SUPERPOINT:
        check(ctx,
              psfm_network_create(ctx, psfm_superpoint_detector.network, nn, path, &s->superpoint));
        s->flops = SUPERPOINT_FLOPS * (double)(c->width * c->height);
        break;
    case XFEAT:
        check(ctx, psfm_network_create(ctx, psfm_xfeat_detector.network, nn, path, &s->xfeat));
        s->flops = XFEAT_FLOPS * (double)(c->width * c->height);
        break;
    case SUPERGLUE:
        check(ctx, psfm_network_create(ctx, &psfm_superglue_network, nn, path, &s->superglue));
        s->flops = count_superglue((double)c->width, 18);
        make_features(s, c->width, 256);
        break;
    case LIGHTERGLUE:
    case LIGHTGLUE:
        check(ctx, psfm_network_create(ctx, &psfm_lightglue_network, nn, path, &s->lightglue));
        s->flops = c->net == LIGHTGLUE ? count_lightglue((double)c->width, 9, 256, 256)
                                       : count_lightglue((double)c->width, 6, 96, 64);
        make_features(s, c->width, psfm_lightglue_dim(s->lightglue));
    }
}

static void run_subject(subject *s) {
    psfm_keypoint_set features = {0};
    psfm_neural_matches matches = {0};
    psfm_neural_input a = {&s->features[0], 640, 480}, b = {&s->features[1], 640, 480};
    psfm_neural_options options;
    psfm_options_init(psfm_superpoint_detector.options, &options);
    options.max_keypoints = 1024;
    psfm_neural_options xfeat_options;
    psfm_options_init(psfm_xfeat_detector.options, &xfeat_options);
    xfeat_options.max_keypoints = 1024;
    if (s->superpoint != NULL)
        check(s->ctx, psfm_neural_extract(s->ctx, &psfm_superpoint_detector, s->superpoint,
                                          &s->image, &options, &features));
    if (s->xfeat != NULL)
        check(s->ctx, psfm_neural_extract(s->ctx, &psfm_xfeat_detector, s->xfeat, &s->image,
                                          &xfeat_options, &features));
    if (s->superglue != NULL)
        check(s->ctx, psfm_superglue_match(s->ctx, s->superglue, &a, &b, NULL, &matches));
    if (s->lightglue != NULL)
        check(s->ctx, psfm_lightglue_match(s->ctx, s->lightglue, &a, &b, NULL, &matches));
    psfm_keypoint_set_free(&features);
    psfm_neural_matches_free(&matches);
}

static void free_subject(subject *s) {
    psfm_network_destroy(psfm_superpoint_detector.network, &s->superpoint);
    psfm_network_destroy(psfm_xfeat_detector.network, &s->xfeat);
    psfm_network_destroy(&psfm_superglue_network, &s->superglue);
    psfm_network_destroy(&psfm_lightglue_network, &s->lightglue);
    psfm_keypoint_set_free(&s->features[0]);
    psfm_keypoint_set_free(&s->features[1]);
    free(s->pixels);
}

typedef struct {
    double wall, cpu; /* seconds */
} cost;

static double cpu_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Takes the smaller of what was and what passed since `start`; returns the time that passed. */
static double keep_least(cost start, cost *least) {
    double wall = psfm_now() - start.wall, cpu = cpu_now() - start.cpu;
    least->wall = wall < least->wall ? wall : least->wall;
    least->cpu = cpu < least->cpu ? cpu : least->cpu;
    return wall;
}

/* The least of several runs that take at least `min_seconds` together. */
static cost measure(subject *s, double min_seconds) {
    cost least = {INFINITY, INFINITY};
    double total = 0;
    run_subject(s);
    for (int k = 0; k < 3 || total < min_seconds; ++k) {
        cost start = {psfm_now(), cpu_now()};
        run_subject(s);
        total += keep_least(start, &least);
    }
    return least;
}

#define PRODUCT_SIZE ((size_t)1024)

static void product_task(psfm_engine *nn, const void *user, size_t index, void *memory) {
    const float *values = user;
    size_t n = PRODUCT_SIZE;
    (void)index;
    psfm_engine_gemm(nn, n, n, n, values, n, values + n * n, n, 0, memory, n);
}

/* GFLOP of square products per second of CPU time, all threads at it. */
static double measure_peak(psfm_context *ctx, psfm_engine *nn, int threads, double min_seconds) {
    size_t n = PRODUCT_SIZE, tasks = (size_t)threads * 4;
    float *values = malloc(2 * n * n * sizeof *values);
    for (size_t k = 0; values != NULL && k < 2 * n * n; ++k)
        values[k] = (float)(k % 97) / 97;
    cost least = {INFINITY, INFINITY};
    for (double total = 0; values != NULL && total < min_seconds;) {
        cost start = {psfm_now(), cpu_now()};
        check(ctx, psfm_engine_run(ctx, nn, tasks, n * n, product_task, values));
        total += keep_least(start, &least);
    }
    free(values);
    return 2e-9 * (double)(n * n) * (double)(n * tasks) / least.cpu;
}

/* What the script prints for a case (name, threads, two times in ms); 0 if it does not run. */
static cost time_torch(const char *script, const char *name, int threads) {
    const char *python = getenv("PYTHON");
    char command[1024], line[256], *rest;
    double values[3] = {0};
    snprintf(command, sizeof command, "%s '%s' %s %d 2>/dev/null", python ? python : "python3",
             script, name, threads);
    FILE *pipe = popen(command, "r");
    while (pipe != NULL && fgets(line, sizeof line, pipe) != NULL) {
        if (strncmp(line, name, strlen(name)) != 0)
            continue;
        rest = line + strlen(name);
        for (int k = 0; k < 3; ++k)
            values[k] = strtod(rest, &rest);
    }
    if (pipe != NULL)
        pclose(pipe);
    return (cost){values[1] / 1e3, values[2] / 1e3};
}

static void print_row(const char *name, int threads, double flops, cost ours, double peak,
                      cost torch) {
    printf("%-20s %7d %8.2f %9.1f %9.1f %9.1f %6.0f%%", name, threads, 1e-9 * flops,
           1e3 * ours.wall, 1e3 * ours.cpu, 1e-9 * flops / ours.wall,
           1e-7 * flops / ours.cpu / peak);
    if (torch.wall > 0)
        printf(" %9.1f %9.1f %6.2f %6.2f", 1e3 * torch.wall, 1e3 * torch.cpu,
               torch.wall / ours.wall, torch.cpu / ours.cpu);
    printf("\n");
    fflush(stdout);
}

static void run_case(const bench_case *c, const char *script, double min_seconds) {
    weights_file w;
    make_weights(c->net, &w);
    for (int threads = 1; threads <= MAX_THREADS; ++threads) {
        psfm_context *ctx = psfm_context_create();
        psfm_engine *nn;
        psfm_context_set_threads(ctx, threads);
        check(ctx, psfm_engine_create(ctx, &nn));
        subject s = {.ctx = ctx};
        make_subject(nn, c, w.path, &s);
        double before = measure_peak(ctx, nn, threads, min_seconds / 4);
        cost ours = measure(&s, min_seconds), torch = {0, 0};
        double after = measure_peak(ctx, nn, threads, min_seconds / 4);
        if (script != NULL)
            torch = time_torch(script, c->name, threads);
        print_row(c->name, threads, s.flops, ours, before > after ? before : after, torch);
        free_subject(&s);
        psfm_engine_destroy(&nn);
        psfm_context_destroy(&ctx);
    }
    unlink(w.path);
}

int main(int argc, char **argv) {
    const char *script = NULL, *wanted = "";
    bool quick = false;
    for (int k = 1; k < argc; ++k) {
        if (strcmp(argv[k], "--quick") == 0) {
            quick = true;
        } else if (strcmp(argv[k], "--torch") == 0 && k + 1 < argc) {
            script = argv[++k];
        } else if (strcmp(argv[k], "--case") == 0 && k + 1 < argc) {
            wanted = argv[++k];
        } else {
            fprintf(stderr, "usage: bench_neural [--quick] [--case TEXT] [--torch SCRIPT]\n");
            return 2;
        }
    }
    psfm_context *ctx = psfm_context_create();
    psfm_engine *nn;
    check(ctx, psfm_engine_create(ctx, &nn));
    printf("%s kernels\n\n", psfm_engine_kernels(nn)->name);
    psfm_engine_destroy(&nn);
    psfm_context_destroy(&ctx);
    printf("%-20s %7s %8s %9s %9s %9s %7s%s\n", "case", "threads", "GFLOP", "ms", "cpu ms",
           "GFLOP/s", "share", script == NULL ? "" : "  torch ms    cpu ms  ratio    cpu");
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k)
        if ((!quick || cases[k].quick) && strstr(cases[k].name, wanted) != NULL)
            run_case(&cases[k], script, quick ? 0.5 : 3.0);
    return 0;
}
