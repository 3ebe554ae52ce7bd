/* Renders a scene and prints the seconds it took: bench_render [SCENE [FOLDER [IMAGES [WIDTH]]]].
 * Without arguments, four images of every scene, with one thread and with all, into a temporary
 * folder. */
#include <stdio.h>
#include <stdlib.h>

#include "../scratch.h"
#include "core/base/path.h"
#include "core/base/timer.h"
#include "synth/render.h"

typedef struct {
    psfm_scene_options scene;
    psfm_render_options render;
} settings;

static settings make_settings(int num_images, int width) {
    settings s;
    psfm_options_init(&psfm_scene_option_table, &s.scene);
    psfm_options_init(&psfm_render_option_table, &s.render);
    s.scene.num_cameras = num_images;
    s.render.width = width;
    return s;
}

/* Seconds; negative after a failure, which is printed. */
static double render(psfm_context *ctx, psfm_scene_kind kind, const settings *s,
                     const char *folder) {
    double start = psfm_now();
    if (psfm_scene_render(ctx, kind, 1, &s->scene, &s->render, folder) != PSFM_OK) {
        fprintf(stderr, "%s\n", psfm_context_message(ctx));
        return -1.0;
    }
    return psfm_now() - start;
}

static int render_one(psfm_context *ctx, int argc, char **argv) {
    psfm_scene_kind kind;
    const char *folder = argc > 2 ? argv[2] : "rendered";
    settings s = make_settings(argc > 3 ? (int)strtol(argv[3], NULL, 10) : 46,
                               argc > 4 ? (int)strtol(argv[4], NULL, 10) : 1280);
    if (!psfm_scene_kind_from_name(argv[1], &kind)) {
        fprintf(stderr, "there is no scene %s\n", argv[1]);
        return 2;
    }
    double seconds = render(ctx, kind, &s, folder);
    if (seconds < 0.0)
        return 1;
    printf("%s: %d images of width %d in %.2f s, %.3f s an image, %d threads\n", argv[1],
           s.scene.num_cameras, s.render.width, seconds, seconds / s.scene.num_cameras,
           psfm_context_threads(ctx));
    return 0;
}

static int render_table(psfm_context *ctx) {
    char folder[SCRATCH_LENGTH];
    if (make_scratch(folder) == NULL)
        return 1;
    settings s = make_settings(4, 1280);
    int threads = psfm_context_threads(ctx), result = 0;
    printf("%-8s %14s %14s %8s\n", "scene", "1 thread", "all threads", "ratio");
    for (int kind = 0; kind < PSFM_SCENE_GENERAL && result == 0; ++kind) {
        psfm_context_set_threads(ctx, 1);
        double one = render(ctx, (psfm_scene_kind)kind, &s, folder);
        psfm_context_set_threads(ctx, threads);
        double all = render(ctx, (psfm_scene_kind)kind, &s, folder);
        result = one < 0.0 || all < 0.0;
        printf("%-8s %9.3f s/im %9.3f s/im %8.2f\n", psfm_scene_kind_name((psfm_scene_kind)kind),
               one / s.scene.num_cameras, all / s.scene.num_cameras, one / all);
    }
    return psfm_remove_all(ctx, folder) == PSFM_OK ? result : 1;
}

int main(int argc, char **argv) {
    psfm_context *ctx = psfm_context_create();
    if (ctx == NULL)
        return 1;
    int result = argc > 1 ? render_one(ctx, argc, argv) : render_table(ctx);
    psfm_context_destroy(&ctx);
    return result;
}
