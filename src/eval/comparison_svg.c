/* The picture of a comparison: cameras of both models and some points of A from above and from the
 * side, at one scale, with a line from each camera of A to where B has it. */
#include "eval/comparison_svg.h"

#include <math.h>
#include <stdio.h>

#include "base/escape.h"
#include "base/number_locale.h"
#include "base/output.h"
#include "linalg/mat3.h"

#define PANEL 560.0
#define MARGIN 30.0
#define MAX_POINTS 4000
#define TEXT_HEIGHT 70.0

/* A panel shows two world axes. */
typedef struct {
    int right, up; /* world axes */
    double left, top;
    double low[2], scale;
} panel;

typedef struct {
    double low[3], high[3];
} box;

static void extend(box *b, const double X[3]) {
    for (int k = 0; k < 3; ++k) {
        b->low[k] = fmin(b->low[k], X[k]);
        b->high[k] = fmax(b->high[k], X[k]);
    }
}

static panel make_panel(const box *b, double side, int right, int up, double left) {
    panel p = {right, up, left, TEXT_HEIGHT, {0}, (PANEL - 2.0 * MARGIN) / side};
    p.low[0] = 0.5 * (b->low[right] + b->high[right] - side);
    p.low[1] = 0.5 * (b->low[up] + b->high[up] - side);
    return p;
}

static void place(const panel *p, const double X[3], double xy[2]) {
    xy[0] = p->left + MARGIN + p->scale * (X[p->right] - p->low[0]);
    xy[1] = p->top + PANEL - MARGIN - p->scale * (X[p->up] - p->low[1]);
}

/* A dot, or a ring for B, with a line in the viewing direction. */
static void print_camera(FILE *file, const panel *p, const double center[3], const double look[3],
                         double length, const char *kind) {
    double xy[2], end[2], tip[3];
    psfm_axpy3(center, length, look, tip);
    place(p, center, xy);
    place(p, tip, end);
    fprintf(file,
            "<path class=\"%s\" d=\"M%.2f %.2fL%.2f %.2f\"/>"
            "<circle class=\"%s\" cx=\"%.2f\" cy=\"%.2f\" r=\"%d\"/>\n",
            kind, xy[0], xy[1], end[0], end[1], kind, xy[0], xy[1], kind[0] == 'a' ? 3 : 5);
}

static void viewing_direction(const psfm_model_image *image, double look[3]) {
    double R[9];
    psfm_rotation_from_quat(image->cam_from_world_q, R);
    for (int k = 0; k < 3; ++k)
        look[k] = R[6 + k];
}

static void print_panel(FILE *file, const panel *p, const psfm_comparison *c, const psfm_model *a,
                        const psfm_model *b, const char *title) {
    size_t stride = a->num_points / MAX_POINTS + 1;
    double length = 0.04 * (PANEL - 2.0 * MARGIN) / p->scale;
    fprintf(file,
            "<text x=\"%.0f\" y=\"%.0f\">%s</text><rect x=\"%.0f\" y=\"%.0f\" width=\"%.0f\" "
            "height=\"%.0f\"/>\n",
            p->left + 10.0, p->top - 8.0, title, p->left, p->top, PANEL, PANEL);
    for (size_t k = 0; k < a->num_points; k += stride) {
        double xy[2];
        place(p, a->points[k].xyz, xy);
        if (xy[0] > p->left && xy[0] < p->left + PANEL && xy[1] > p->top && xy[1] < p->top + PANEL)
            fprintf(file, "<circle class=\"p\" cx=\"%.1f\" cy=\"%.1f\" r=\"1\"/>\n", xy[0], xy[1]);
    }
    for (size_t k = 0; k < c->num_images; ++k) {
        const psfm_camera_difference *d = &c->images[k];
        double look[3], turned[3], from[2], to[2];
        fprintf(file, "<g><title>");
        psfm_print_xml(file, a->images[d->image_a].name);
        fprintf(file, ": %.4g, %.4g deg</title>", d->position, d->rotation_deg);
        place(p, d->center_a, from);
        place(p, d->center_b, to);
        fprintf(file, "<path class=\"d\" d=\"M%.2f %.2fL%.2f %.2f\"/>\n", from[0], from[1], to[0],
                to[1]);
        viewing_direction(&b->images[d->image_b], look);
        psfm_mat3_mul_vec(c->a_from_b.R, look, turned);
        print_camera(file, p, d->center_b, turned, length, "b");
        viewing_direction(&a->images[d->image_a], look);
        print_camera(file, p, d->center_a, look, length, "a");
        fprintf(file, "</g>\n");
    }
}

/* Room for all cameras, and for points as far out as the cameras. */
static double find_box(const psfm_comparison *c, const psfm_model *a, box *out) {
    box cameras = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (size_t k = 0; k < c->num_images; ++k) {
        extend(&cameras, c->images[k].center_a);
        extend(&cameras, c->images[k].center_b);
    }
    *out = cameras;
    double side = 0.0, reach = 0.0;
    for (int k = 0; k < 3; ++k)
        reach = fmax(reach, cameras.high[k] - cameras.low[k]);
    for (size_t k = 0; k < a->num_points; ++k) {
        const double *X = a->points[k].xyz;
        bool inside = true;
        for (int e = 0; e < 3; ++e)
            inside = inside && X[e] > cameras.low[e] - reach && X[e] < cameras.high[e] + reach;
        if (inside)
            extend(out, X);
    }
    for (int k = 0; k < 3; ++k)
        side = fmax(side, out->high[k] - out->low[k]);
    return side > 0.0 && isfinite(side) ? side : 1.0;
}

static void print_picture(FILE *file, const psfm_comparison *c, const psfm_model *a,
                          const psfm_model *b) {
    box all;
    double side = find_box(c, a, &all);
    panel above = make_panel(&all, side, 0, 1, 0.0);
    panel beside = make_panel(&all, side, 0, 2, PANEL);
    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" "
            "font-family=\"sans-serif\" font-size=\"14\">\n"
            "<style>rect{fill:none;stroke:#bbb}.p{fill:#999}.a{fill:#1565c0;stroke:#1565c0}"
            ".b{fill:none;stroke:#ef6c00}.d{stroke:#c00}svg{background:#fff}</style>\n",
            2.0 * PANEL, TEXT_HEIGHT + PANEL);
    fprintf(file,
            "<text x=\"10\" y=\"20\"><tspan fill=\"#1565c0\">A</tspan> and <tspan "
            "fill=\"#ef6c00\">B</tspan>: %zu common images; position median %.4g, largest %.4g "
            "(cameras span %.4g); rotation median %.4g, largest %.4g degrees</text>\n",
            c->num_images, c->median_position, c->max_position, c->extent, c->median_rotation_deg,
            c->max_rotation_deg);
    print_panel(file, &above, c, a, b, "from above (x right, y up)");
    print_panel(file, &beside, c, a, b, "from the side (x right, z up)");
    fprintf(file, "</svg>\n");
}

psfm_status psfm_comparison_write_svg(psfm_context *ctx, const psfm_comparison *comparison,
                                      const psfm_model *a, const psfm_model *b, const char *path) {
    psfm_output out = {0};
    psfm_status status = psfm_output_open(ctx, path, &out);
    if (status != PSFM_OK)
        return status;
    locale_t before = psfm_number_locale_begin();
    print_picture(out.file, comparison, a, b);
    psfm_number_locale_end(before);
    return psfm_output_commit(ctx, &out);
}
