/* Trajectories as the TUM RGB-D benchmark and evo read them: one line per image,
 *
 *   timestamp tx ty tz qx qy qz qw
 *
 * with the camera's centre and the rotation from the camera (x right, y down, z forward) to the
 * world, ascending in time. The time is the number that the image's name consists of (without
 * folder and suffix, in seconds; whole numbers of 16 digits and more are nanoseconds) if all names
 * are such numbers and different, otherwise the image's place in the order of the names. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/escape.h"
#include "core/base/output.h"
#include "core/linalg/mat3.h"
#include "formats/export.h"

#define MAX_STAMP 64

typedef struct {
    const psfm_model_image *image;
    char stamp[MAX_STAMP]; /* decimal text, so that no digit is lost */
    double time;
} entry;

/* "a/1403715273262142976.png" -> "1403715273.262142976"; false if the name is no number. */
static bool stamp_of_name(const char *name, char stamp[MAX_STAMP]) {
    const char *slash = strrchr(name, '/'), *begin = slash == NULL ? name : slash + 1;
    const char *dot = strrchr(begin, '.');
    size_t length = dot == NULL ? strlen(begin) : (size_t)(dot - begin), dots = 0;
    if (length == 0 || length > 40)
        return false;
    for (size_t k = 0; k < length; ++k) {
        dots += begin[k] == '.';
        if (!isdigit((unsigned char)begin[k]) && begin[k] != '.')
            return false;
    }
    if (dots > 1 || !isdigit((unsigned char)begin[0]))
        return false;
    if (dots == 0 && length >= 16)
        snprintf(stamp, MAX_STAMP, "%.*s.%.9s", (int)length - 9, begin, begin + length - 9);
    else
        snprintf(stamp, MAX_STAMP, "%.*s", (int)length, begin);
    return true;
}

static int by_name(const void *a, const void *b) {
    const entry *x = a, *y = b;
    int order = strcmp(x->image->name, y->image->name);
    return order != 0 ? order : (x->image->id > y->image->id) - (x->image->id < y->image->id);
}

static int by_time(const void *a, const void *b) {
    const entry *x = a, *y = b;
    return x->time != y->time ? (x->time > y->time) - (x->time < y->time) : by_name(a, b);
}

/* Sets the times and sorts by them. Returns whether they come from the names. */
static bool set_times(entry *entries, size_t num) {
    bool numeric = num > 0;
    for (size_t k = 0; numeric && k < num; ++k) {
        numeric = stamp_of_name(entries[k].image->name, entries[k].stamp);
        entries[k].time = numeric ? strtod(entries[k].stamp, NULL) : 0.0;
    }
    qsort(entries, num, sizeof *entries, numeric ? by_time : by_name);
    for (size_t k = 1; numeric && k < num; ++k)
        if (strcmp(entries[k].stamp, entries[k - 1].stamp) == 0)
            numeric = false;
    if (!numeric)
        qsort(entries, num, sizeof *entries, by_name);
    for (size_t k = 0; !numeric && k < num; ++k)
        snprintf(entries[k].stamp, MAX_STAMP, "%zu", k);
    return numeric;
}

static void print_entry(FILE *file, const entry *e) {
    double R[9], center[3], q[4];
    psfm_rotation_from_quat(e->image->cam_from_world_q, R);
    psfm_rotation_to_quat(R, q);
    psfm_model_image_center(e->image, center);
    /* the conjugate turns the other way: camera to world */
    fprintf(file, "%s %.17g %.17g %.17g %.17g %.17g %.17g %.17g\n", e->stamp, center[0], center[1],
            center[2], -q[1], -q[2], -q[3], q[0]);
}

psfm_status psfm_export_tum(psfm_context *ctx, const psfm_export_input *in, const char *path) {
    psfm_output out = {0};
    entry *entries = NULL;
    size_t num = in->model->num_images;
    psfm_status status = PSFM_ALLOC(ctx, num, &entries);
    if (status == PSFM_OK)
        status = psfm_output_open(ctx, path, &out);
    if (status == PSFM_OK) {
        for (size_t k = 0; k < num; ++k)
            entries[k].image = &in->model->images[k];
        bool numeric = set_times(entries, num);
        fprintf(out.file, "# timestamp tx ty tz qx qy qz qw (camera to world)\n");
        for (size_t k = 0; !numeric && k < num; ++k) {
            fprintf(out.file, "# %s is ", entries[k].stamp);
            psfm_print_plain(out.file, entries[k].image->name);
            fputc('\n', out.file);
        }
        for (size_t k = 0; k < num; ++k)
            print_entry(out.file, &entries[k]);
        status = psfm_output_commit(ctx, &out);
    }
    psfm_output_abort(&out);
    free(entries);
    return status;
}
