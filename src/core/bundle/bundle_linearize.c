/* Residuals and their derivatives.
 *
 * With Y = R (X - c), A = d pixel / d Y (2 x 3) and R <- exp(w) R:
 *   d / d w = A [w x Y], row by row Y x a;   d / d X = A R;   d / d c = -A R.
 * Derivatives by intrinsics: bundle_intrinsics.c.
 *
 * A point on a plane has the basis (b1, b2, n). With the plane's parameters (alpha, beta, delta):
 * n <- n + alpha b1 + beta b2, n . (X - a) = h <- h + delta, a the anchor, a point that stays on
 * the plane moves along n by m . (alpha, beta, delta), m = (-b1 . (X - a), -b2 . (X - a), 1).
 * Hard: the derivative of a residual by the plane is that by the point along n, times m. Soft: the
 * residual n . (X - a) - h has the derivative 1 along n, and -m by the plane.
 *
 * The soft residual counts in pixels: times p, the pixels per scene unit, p^2 = sum k^2 / |X - c|^2
 * over the images that see the point. Were p a constant, whatever lies far down a chain of images
 * would shrink, where hardly anything holds its size, to make the distances from its planes small.
 * So p follows X and c: r has the derivative r t (X - c) by a centre, t = k^2 / (p^2 |X - c|^4),
 * and minus their sum by X. These enter the gradient; the matrix does without them, as they are
 * small (r^2 t), and the cost says whether a step is good.
 *
 * Loss: rho(s) of the squared residual s enters as the weight rho'(s) (iteratively reweighted
 * least squares). As rho is concave, a step that lowers the weighted cost lowers the true one. Of
 * Cauchy's rho(s) = c^2 log(1 + s / c^2) a point takes one logarithm: that of the product. */
#include <math.h>
#include <string.h>

#include "core/bundle/bundle_internal.h"
#include "core/linalg/mat3.h"

double psfm_bundle_total_loss(const psfm_bundle_options *options, const psfm_bundle_losses *sum) {
    double scale = options->loss_scale_px;
    return sum->plain + (sum->product > 0.0 ? scale * scale * log1p(sum->product) : 0.0);
}

void psfm_bundle_plane_frame(const double normal[3], double frame[9]) {
    int axis = fabs(normal[0]) < fabs(normal[1]) ? 0 : 1;
    axis = fabs(normal[2]) < fabs(normal[axis]) ? 2 : axis;
    double e[3] = {axis == 0, axis == 1, axis == 2};
    psfm_cross3(normal, e, frame);
    psfm_normalize3(frame);
    psfm_cross3(normal, frame, frame + 3);
    memcpy(frame + 6, normal, 3 * sizeof *normal);
}

static void point_in_camera(const psfm_bundle_values *values, uint32_t image, const double X[3],
                            double Y[3]) {
    double D[3];
    psfm_sub3(X, values->c[image], D);
    psfm_mat3_mul_vec(values->R[image], D, Y);
}

/* Multiplies `num` columns of a 2 x num matrix by the observation's square root information. */
static void weigh_rows(const psfm_bundle *b, uint32_t source, int num, double *rows) {
    if (b->problem->obs_sqrt_info == NULL)
        return;
    const double *s = b->problem->obs_sqrt_info[source];
    for (int k = 0; k < num; ++k) {
        rows[k] = s[0] * rows[k] + s[1] * rows[num + k];
        rows[num + k] = s[2] * rows[num + k];
    }
}

bool psfm_bundle_residual(const psfm_bundle *b, const psfm_bundle_values *values, uint32_t o,
                          const double X[3], double r[2]) {
    uint32_t image = b->obs_image[o], source = b->obs_source[o];
    double Y[3];
    point_in_camera(values, image, X, Y);
    if (!psfm_camera_project(&values->cameras[b->problem->image_camera[image]], Y, r))
        return false;
    r[0] -= b->problem->obs_xy[source][0];
    r[1] -= b->problem->obs_xy[source][1];
    weigh_rows(b, source, 1, r);
    return true;
}

double psfm_bundle_soft_residual(const psfm_bundle *b, const psfm_bundle_values *values, uint32_t p,
                                 const double X[3]) {
    const psfm_bundle_plane *plane = &values->planes[b->point_plane[p]];
    return psfm_bundle_px_per_unit(b, values, p, X) / plane->sigma_px *
           (psfm_dot3(plane->normal, X) - plane->distance);
}

/* Removes the part of a derivative by the centre that would change the fixed distance. */
static void hold_distance(const psfm_bundle *b, uint32_t image, double J[3]) {
    if (b->scale_anchor[image] == PSFM_BUNDLE_NONE)
        return;
    double u[3];
    psfm_sub3(b->now.c[image], b->now.c[b->scale_anchor[image]], u);
    psfm_normalize3(u);
    psfm_axpy3(J, -psfm_dot3(J, u), u, J);
}

double psfm_bundle_px_per_unit(const psfm_bundle *b, const psfm_bundle_values *values, uint32_t p,
                               const double X[3]) {
    double sum = 0.0;
    for (uint32_t o = b->point_begin[p]; o < b->point_begin[p + 1]; ++o) {
        double D[3];
        psfm_sub3(X, values->c[b->obs_image[o]], D);
        sum += b->obs_px2[o] / psfm_dot3(D, D);
    }
    return sqrt(sum);
}

void psfm_bundle_add_pull(const psfm_bundle *b, uint32_t o, double rhs[3]) {
    double D[3], pull = b->rows[o].pull;
    if (pull == 0.0)
        return;
    psfm_sub3(b->now.X[b->obs_point[o]], b->now.c[b->obs_image[o]], D);
    hold_distance(b, b->obs_image[o], D);
    psfm_axpy3(rhs, -pull, D, rhs);
}

/* Both rows of a matrix of two at once. */
typedef double two __attribute__((vector_size(16)));

static void store_two(two value, double *first, double *second) {
    *first = value[0];
    *second = value[1];
}

/* The derivatives of the row from A, by column: with the weights of observation and loss. */
static void fill_row(const psfm_bundle *b, uint32_t image, const double Y[3], const two A[3],
                     const double *frame, psfm_bundle_row *row) {
    const double *R = b->now.R[image];
    two X[3],
        turn[3] = {Y[1] * A[2] - Y[2] * A[1], Y[2] * A[0] - Y[0] * A[2], Y[0] * A[1] - Y[1] * A[0]};
    for (int k = 0; k < 3; ++k) {
        X[k] = R[k] * A[0] + R[3 + k] * A[1] + R[6 + k] * A[2];
        store_two(turn[k], &row->J_pose[k], &row->J_pose[6 + k]);
        store_two(-X[k], &row->J_pose[3 + k], &row->J_pose[9 + k]);
    }
    for (int k = 0; k < 3; ++k) {
        const double *f = frame == NULL ? NULL : frame + 3 * k;
        two by_point = f == NULL ? X[k] : f[0] * X[0] + f[1] * X[1] + f[2] * X[2];
        store_two(by_point, &row->J_point[k], &row->J_point[3 + k]);
    }
    if (b->scale_anchor[image] != PSFM_BUNDLE_NONE)
        for (int side = 0; side < 2; ++side)
            hold_distance(b, image, row->J_pose + 6 * side + 3);
}

/* An observation of something that has no image. */
static void clear_row(const psfm_bundle *b, uint32_t num, psfm_bundle_row *row, double *J_camera,
                      psfm_bundle_losses *losses) {
    memset(row, 0, sizeof *row);
    for (uint32_t k = 0; k < 2 * num; ++k)
        J_camera[k] = 0.0;
    psfm_bundle_add_loss(&b->options, PSFM_BUNDLE_INVALID_PX * PSFM_BUNDLE_INVALID_PX, losses);
}

/* Fills the row of one observation and adds its loss. */
static void linearize_observation(psfm_bundle *b, uint32_t o, const double X[3],
                                  const double *frame, psfm_bundle_losses *losses) {
    uint32_t image = b->obs_image[o], source = b->obs_source[o];
    uint32_t camera_idx = b->problem->image_camera[image], num = b->num_free_params[camera_idx];
    psfm_bundle_row *row = &b->rows[o];
    double *J_camera = num == 0 ? NULL : b->camera_rows + 2 * (size_t)b->max_free_params * o;
    double Y[3], A[6], r[2];
    point_in_camera(&b->now, image, X, Y);
    if (!psfm_camera_project_jacobian(&b->now.cameras[camera_idx], Y, r, A)) {
        clear_row(b, num, row, J_camera, losses);
        return;
    }
    if (num > 0)
        psfm_bundle_camera_jacobian(b, camera_idx, Y, r, J_camera);
    r[0] -= b->problem->obs_xy[source][0];
    r[1] -= b->problem->obs_xy[source][1];
    weigh_rows(b, source, 1, r);
    weigh_rows(b, source, 3, A);
    if (num > 0)
        weigh_rows(b, source, (int)num, J_camera);
    double weight = sqrt(psfm_bundle_add_loss(&b->options, r[0] * r[0] + r[1] * r[1], losses));
    const two columns[3] = {(two){A[0], A[3]} * weight, (two){A[1], A[4]} * weight,
                            (two){A[2], A[5]} * weight};
    row->r[0] = weight * r[0];
    row->r[1] = weight * r[1];
    row->pull = 0.0;
    fill_row(b, image, Y, columns, frame, row);
    for (uint32_t k = 0; k < 2 * num; ++k)
        J_camera[k] *= weight;
}

static void add_row(const psfm_bundle_row *row, psfm_bundle_system *s) {
    const double *J = row->J_point;
    for (size_t side = 0; side < 2; ++side, J += 3) {
        s->V[0] += J[0] * J[0];
        s->V[1] += J[0] * J[1];
        s->V[2] += J[0] * J[2];
        s->V[3] += J[1] * J[1];
        s->V[4] += J[1] * J[2];
        s->V[5] += J[2] * J[2];
        psfm_axpy3(s->b, -row->r[side], J, s->b);
    }
}

/* What the pixels per scene unit p add to the gradient of half the square of a soft residual r. */
static void follow_size(psfm_bundle *b, uint32_t p, double px, double r, psfm_bundle_system *s) {
    double sum[3] = {0};
    for (uint32_t o = b->point_begin[p]; o < b->point_begin[p + 1]; ++o) {
        double D[3];
        psfm_sub3(b->now.X[p], b->now.c[b->obs_image[o]], D);
        double squared = psfm_dot3(D, D) * px;
        double pull = r * r * b->obs_px2[o] / (squared * squared);
        b->rows[o].pull = pull;
        psfm_axpy3(sum, pull, D, sum);
    }
    psfm_mat3_mul_vec(b->now.plane_frame[b->point_plane[p]], sum, s->pull);
    psfm_axpy3(s->b, 1.0, s->pull, s->b);
}

/* The terms that tie a point to its plane, and the loss of the soft residual. */
static void couple_plane(psfm_bundle *b, uint32_t p, psfm_bundle_system *s,
                         psfm_bundle_losses *losses) {
    uint32_t plane = b->point_plane[p];
    const double *frame = b->now.plane_frame[plane];
    double D[3];
    psfm_sub3(b->now.X[p], b->plane_anchor[plane], D);
    s->m[0] = -psfm_dot3(frame, D);
    s->m[1] = -psfm_dot3(frame + 3, D);
    s->m[2] = 1.0;
    if (b->options.planes == PSFM_PLANES_HARD) {
        s->q[0] = s->V[2];
        s->q[1] = s->V[4];
        s->sigma = s->V[5];
        s->gamma = s->b[2];
        return;
    }
    const psfm_bundle_plane *now = &b->now.planes[plane];
    double px = psfm_bundle_px_per_unit(b, &b->now, p, b->now.X[p]), per_unit = px / now->sigma_px;
    double r = per_unit * (psfm_dot3(now->normal, b->now.X[p]) - now->distance);
    double weight = sqrt(psfm_bundle_add_loss(&b->options, r * r, losses));
    s->r_soft = weight * r;
    s->w_soft = weight * per_unit;
    if (px > 0.0)
        follow_size(b, p, px, s->r_soft, s);
    s->sigma = s->w_soft * s->w_soft;
    s->q[2] = -s->sigma;
    s->gamma = s->w_soft * s->r_soft;
    s->V[5] += s->sigma;
    s->b[2] -= s->gamma;
}

static psfm_status linearize_points(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)ctx;
    (void)worker;
    psfm_bundle *b = user;
    double loss = 0.0;
    uint32_t first = (uint32_t)(index * PSFM_BUNDLE_POINTS_PER_TASK);
    for (uint32_t p = first; p < psfm_bundle_task_end(b, index); ++p) {
        psfm_bundle_system *s = &b->systems[p];
        psfm_bundle_losses losses = {0};
        bool on_plane = b->point_plane[p] != PSFM_BUNDLE_NONE;
        const double *frame = on_plane ? b->now.plane_frame[b->point_plane[p]] : NULL;
        memset(s, 0, sizeof *s);
        for (uint32_t o = b->point_begin[p]; o < b->point_begin[p + 1]; ++o) {
            psfm_bundle_prefetch(b, o);
            linearize_observation(b, o, b->now.X[p], frame, &losses);
            add_row(&b->rows[o], s);
        }
        if (on_plane)
            couple_plane(b, p, s, &losses);
        loss += psfm_bundle_total_loss(&b->options, &losses);
    }
    b->partial[index] = loss;
    return PSFM_OK;
}

psfm_status psfm_bundle_linearize(psfm_context *ctx, psfm_bundle *b, double *cost) {
    size_t num_tasks = psfm_bundle_num_point_tasks(b);
    psfm_status status = psfm_bundle_for(ctx, b, num_tasks, linearize_points, b);
    *cost = psfm_bundle_prior_cost(b, &b->now) + psfm_bundle_shape_cost(b, &b->now);
    for (size_t k = 0; k < num_tasks; ++k)
        *cost += 0.5 * b->partial[k];
    return status;
}
