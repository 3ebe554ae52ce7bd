/* Three points: depths along three unit rays y_k with known distances between the points.
 *
 * |l_i y_i - l_j y_j|^2 = a_ij for the three pairs are three quadrics L^T M_ij L = a_ij in the
 * depths L. Eliminating the right-hand sides leaves two homogeneous ones, D1 and D2. The pencil
 * x D1 + D2 (or D1 + x D2) holds a degenerate member for a root x of a cubic; it is a pair of
 * planes through the origin. On each plane another member becomes a binary quadratic form, whose
 * two roots are directions of L; its length follows from the distances. Newton's method on the
 * depths takes away the rounding.
 *
 * Source of the idea: M. Persson and K. Nordberg, "Lambda Twist" (2018). */
#include <math.h>
#include <string.h>

#include "core/linalg/mat3.h"
#include "core/structure/resection.h"

#define NEWTON_STEPS 3
#define MIN_SINE 1e-6 /* of the angle between two sides of the triangle, below it is a line */

static const size_t pairs[3][2] = {{0, 1}, {0, 2}, {1, 2}};

/* M of pair (i, j): l_i^2 + l_j^2 - 2 l_i l_j y_i . y_j. */
static void pair_form(const double rays[3][3], size_t i, size_t j, double M[9]) {
    memset(M, 0, 9 * sizeof *M);
    M[4 * i] = M[4 * j] = 1.0;
    M[3 * i + j] = M[3 * j + i] = -psfm_dot3(rays[i], rays[j]);
}

static double bilinear_form(const double A[9], const double x[3], const double y[3]) {
    double Ay[3];
    psfm_mat3_mul_vec(A, y, Ay);
    return psfm_dot3(x, Ay);
}

/* Sum of the determinants of A with one column (by symmetry row) replaced by that of B. */
static double mixed_det(const double A[9], const double B[9]) {
    double sum = 0.0, C[9];
    for (size_t r = 0; r < 3; ++r) {
        memcpy(C, A, sizeof C);
        memcpy(C + 3 * r, B + 3 * r, 3 * sizeof *B);
        sum += psfm_mat3_det(C);
    }
    return sum;
}

/* A real root of x^3 + a x^2 + b x + c by Newton's method from where it cannot fail: beyond the
 * extremum on the side of a root that is alone there. */
static double cubic_root(double a, double b, double c) {
    double center = -a / 3.0, discriminant = a * a / 9.0 - b / 3.0;
    double value = ((center + a) * center + b) * center + c;
    /* twice as far as the extrema, or as if there were no linear term */
    double reach = discriminant > 0.0 ? 2.0 * sqrt(discriminant) : cbrt(fabs(value));
    double x = value > 0.0 ? center - reach : center + reach;
    for (int k = 0; k < 60; ++k) {
        double f = ((x + a) * x + b) * x + c, slope = (3.0 * x + 2.0 * a) * x + b;
        if (!(fabs(slope) > 0.0))
            break;
        double step = f / slope;
        x -= step;
        if (fabs(step) <= 1e-15 * fabs(x))
            break;
    }
    return x;
}

/* The degenerate member of the pencil of D1 and D2; returns one of the two that differs from it. */
static const double *degenerate_member(const double D1[9], const double D2[9], double D0[9]) {
    double det1 = psfm_mat3_det(D1), det2 = psfm_mat3_det(D2);
    bool lead1 = fabs(det1) >= fabs(det2);
    const double *A = lead1 ? D1 : D2, *B = lead1 ? D2 : D1;
    double lead = lead1 ? det1 : det2, last = lead1 ? det2 : det1;
    if (!(fabs(lead) > 0.0)) { /* both are degenerate already */
        memcpy(D0, D2, 9 * sizeof *D0);
        return D1;
    }
    double x = cubic_root(mixed_det(A, B) / lead, mixed_det(B, A) / lead, last / lead);
    for (int k = 0; k < 9; ++k)
        D0[k] = x * A[k] + B[k];
    return A;
}

/* Splits a degenerate form into its two planes v . L = 0; false if they are not real. */
static bool split_planes(const double D0[9], double v[2][3]) {
    double w[3], V[9], e1[3], e2[3];
    psfm_mat3_eigen_symmetric(D0, w, V);
    if (!(w[0] < 0.0 && w[2] > 0.0))
        return false;
    for (size_t k = 0; k < 3; ++k) {
        e1[k] = V[3 * k] * sqrt(-w[0]);
        e2[k] = V[3 * k + 2] * sqrt(w[2]);
    }
    psfm_axpy3(e1, 1.0, e2, v[0]);
    psfm_axpy3(e1, -1.0, e2, v[1]);
    return true;
}

/* Directions on the plane v . L = 0 where the form Q vanishes. */
static int zero_directions(const double Q[9], const double v[3], double L[2][3]) {
    int axis = fabs(v[0]) > fabs(v[1]) ? 0 : 1;
    axis = fabs(v[2]) > fabs(v[axis]) ? 2 : axis;
    double unit[3] = {axis == 0, axis == 1, axis == 2}, p[3], q[3];
    psfm_cross3(v, unit, p);
    psfm_normalize3(p);
    psfm_cross3(v, p, q);
    psfm_normalize3(q);
    double A = bilinear_form(Q, p, p), B = bilinear_form(Q, p, q), C = bilinear_form(Q, q, q);
    double discriminant = B * B - A * C;
    if (discriminant < 0.0) {
        if (discriminant < -1e-9 * (B * B + fabs(A * C)))
            return 0;
        discriminant = 0.0; /* a double root, lost to rounding */
    }
    double t = -(B + copysign(sqrt(discriminant), B));
    for (size_t k = 0; k < 3; ++k) {
        L[0][k] = t * p[k] + A * q[k];
        L[1][k] = C * p[k] + t * q[k];
    }
    return 2;
}

static void refine_depths(double M[3][9], const double a[3], double L[3]) {
    for (int step = 0; step < NEWTON_STEPS; ++step) {
        double J[9], inverse[9], f[3], d[3];
        for (size_t k = 0; k < 3; ++k) {
            psfm_mat3_mul_vec(M[k], L, J + 3 * k);
            f[k] = 0.5 * (psfm_dot3(L, J + 3 * k) - a[k]);
        }
        if (!psfm_mat3_inverse(J, inverse))
            return;
        psfm_mat3_mul_vec(inverse, f, d);
        psfm_sub3(L, d, L);
    }
}

/* Right-handed frame of a triangle in the rows of F; false for a line. */
static bool triangle_frame(const double X[3][3], double F[9]) {
    double d2[3];
    psfm_sub3(X[1], X[0], F);
    psfm_sub3(X[2], X[0], d2);
    double length = psfm_normalize3(F) * psfm_norm3(d2);
    psfm_cross3(F, d2, F + 6);
    if (!(psfm_normalize3(F + 6) > MIN_SINE * psfm_norm3(d2)) || !(length > 0.0))
        return false;
    psfm_cross3(F + 6, F, F + 3);
    return true;
}

static bool pose_from_depths(const double rays[3][3], const double points[3][3],
                             const double world_frame[9], const double L[3], double R[9],
                             double c[3]) {
    double Y[3][3], F[9], D[3];
    for (size_t k = 0; k < 3; ++k)
        psfm_scale3(L[k], rays[k], Y[k]);
    if (!triangle_frame((const double(*)[3])Y, F))
        return false;
    psfm_mat3_t_mul(F, world_frame, R);
    psfm_mat3_tmul_vec(R, Y[0], D);
    psfm_sub3(points[0], D, c);
    return true;
}

/* Scales a direction to the triangle's size; false unless all depths come out positive. */
static bool scale_depths(double M[3][9], const double a[3], double L[3]) {
    double size = 0.0;
    for (size_t k = 0; k < 3; ++k)
        size += bilinear_form(M[k], L, L);
    double scale = copysign(sqrt((a[0] + a[1] + a[2]) / size), L[0]);
    psfm_scale3(scale, L, L);
    return L[0] > 0.0 && L[1] > 0.0 && L[2] > 0.0; /* false for NaN */
}

int psfm_p3p(const double rays[3][3], const double points[3][3], double R[4][9], double c[4][3]) {
    double M[3][9], a[3], D1[9], D2[9], D0[9], v[2][3], world_frame[9];
    int num = 0;
    if (!triangle_frame(points, world_frame))
        return 0;
    for (size_t k = 0; k < 3; ++k) {
        double D[3];
        pair_form(rays, pairs[k][0], pairs[k][1], M[k]);
        psfm_sub3(points[pairs[k][0]], points[pairs[k][1]], D);
        a[k] = psfm_dot3(D, D);
    }
    for (int k = 0; k < 9; ++k) {
        D1[k] = (a[2] * M[0][k] - a[0] * M[2][k]) / a[2];
        D2[k] = (a[2] * M[1][k] - a[1] * M[2][k]) / a[2];
    }
    const double *other = degenerate_member(D1, D2, D0);
    if (!split_planes(D0, v))
        return 0;
    for (int plane = 0; plane < 2; ++plane) {
        double L[2][3];
        int num_roots = zero_directions(other, v[plane], L);
        for (int k = 0; k < num_roots; ++k) {
            if (!scale_depths(M, a, L[k]))
                continue;
            refine_depths(M, a, L[k]);
            num += pose_from_depths(rays, points, world_frame, L[k], R[num], c[num]);
        }
    }
    return num;
}
