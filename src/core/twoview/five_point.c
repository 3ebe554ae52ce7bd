/* The five-point problem (Nister 2004).
 *
 * Five matches leave E = x X + y Y + z Z + W with X .. W the null space of the 5 x 9 matrix of
 * epipolar constraints. det E = 0 and 2 E E^T E = trace(E E^T) E are ten cubics in (x, y, z).
 * Gauss-Jordan elimination of the ten monomials up to xy leaves, among others, rows for x^2 z and
 * x^2, y^2 z and y^2, xyz and xy; subtracting z times the second of each couple from the first
 * gives three equations linear in (x, y, 1) with polynomials in z as coefficients. Their
 * determinant, of degree ten, gives z, the null vector x and y. */
#include "core/twoview/five_point.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "core/linalg/null_space.h"
#include "core/linalg/polynomial.h"
#include "core/linalg/vec3.h"

/* Coefficients of polynomials in (x, y, z). Linear: x y z 1. Quadratic: x2 xy xz y2 yz z2 x y z 1.
 * Cubic: x3 y3 x2y xy2 x2z x2 y2z y2 xyz xy | xz2 xz x yz2 yz y z3 z2 z 1. */
typedef double linear[4];
typedef double quadratic[10];
typedef double cubic[20];

/* Place of (quadratic monomial) x (linear monomial) among the cubic ones. */
static const int cubic_place[10][4] = {
    {0, 2, 4, 5},     {2, 3, 8, 9},   {4, 8, 10, 11}, {3, 1, 6, 7},     {8, 6, 13, 14},
    {10, 13, 16, 17}, {5, 9, 11, 12}, {9, 7, 14, 15}, {11, 14, 17, 18}, {12, 15, 18, 19},
};

/* out += s a b */
static void add_product11(double s, const linear a, const linear b, quadratic out) {
    out[0] += s * (a[0] * b[0]);
    out[1] += s * (a[0] * b[1] + a[1] * b[0]);
    out[2] += s * (a[0] * b[2] + a[2] * b[0]);
    out[3] += s * (a[1] * b[1]);
    out[4] += s * (a[1] * b[2] + a[2] * b[1]);
    out[5] += s * (a[2] * b[2]);
    out[6] += s * (a[0] * b[3] + a[3] * b[0]);
    out[7] += s * (a[1] * b[3] + a[3] * b[1]);
    out[8] += s * (a[2] * b[3] + a[3] * b[2]);
    out[9] += s * (a[3] * b[3]);
}

/* out += a b */
static void add_product21(const quadratic a, const linear b, cubic out) {
    for (int i = 0; i < 10; ++i)
        for (int j = 0; j < 4; ++j)
            out[cubic_place[i][j]] += a[i] * b[j];
}

/* The ten cubic constraints on the entries of E. */
static void fill_constraints(const linear E[9], cubic rows[10]) {
    quadratic S[9], trace = {0}; /* E E^T */
    memset(S, 0, sizeof S);
    memset(rows, 0, 10 * sizeof *rows);
    for (int i = 0; i < 3; ++i) {
        for (int j = i; j < 3; ++j) {
            for (int k = 0; k < 3; ++k)
                add_product11(1.0, E[3 * i + k], E[3 * j + k], S[3 * i + j]);
            memcpy(S[3 * j + i], S[3 * i + j], sizeof(quadratic));
        }
        for (int m = 0; m < 10; ++m)
            trace[m] += 0.5 * S[3 * i + i][m];
    }
    for (int i = 0; i < 3; ++i)
        for (int m = 0; m < 10; ++m)
            S[3 * i + i][m] -= trace[m];
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            for (int k = 0; k < 3; ++k)
                add_product21(S[3 * i + k], E[3 * k + j], rows[3 * i + j]);
    for (int k = 0; k < 3; ++k) { /* det E along the first row */
        int a = (k + 1) % 3, b = (k + 2) % 3;
        quadratic minor = {0};
        add_product11(1.0, E[3 + a], E[6 + b], minor);
        add_product11(-1.0, E[3 + b], E[6 + a], minor);
        add_product21(minor, E[k], rows[9]);
    }
}

/* Reduces the first ten columns to the identity, with partial pivoting; rows 0 to 3 are not reduced
 * upwards since nobody needs them. */
static bool eliminate_rows(cubic rows[10]) {
    for (int k = 0; k < 10; ++k) {
        int pivot = k;
        for (int r = k + 1; r < 10; ++r)
            if (fabs(rows[r][k]) > fabs(rows[pivot][k]))
                pivot = r;
        if (!(fabs(rows[pivot][k]) > 1e-13))
            return false;
        for (int c = k; c < 20; ++c) {
            double swap = rows[k][c];
            rows[k][c] = rows[pivot][c];
            rows[pivot][c] = swap;
        }
        double inverse = 1.0 / rows[k][k];
        for (int c = k; c < 20; ++c)
            rows[k][c] *= inverse;
        for (int r = 4; r < 10; ++r) {
            double factor = rows[r][k];
            if (r == k || factor == 0.0)
                continue;
            for (int c = k; c < 20; ++c)
                rows[r][c] -= factor * rows[k][c];
        }
        for (int r = k + 1; r < 4; ++r) {
            double factor = rows[r][k];
            for (int c = k; c < 20; ++c)
                rows[r][c] -= factor * rows[k][c];
        }
    }
    return true;
}

/* A 3 x 3 matrix of polynomials in z, of degrees 3, 3 and 4 by column, coefficients ascending. */
typedef double z_matrix[3][3][5];

static void hidden_variable(const cubic rows[10], z_matrix B) {
    memset(B, 0, sizeof(z_matrix));
    for (int e = 0; e < 3; ++e) {
        const double *p = rows[4 + 2 * e], *q = rows[5 + 2 * e]; /* p - z q */
        for (int c = 0; c < 2; ++c) {
            const double *pc = &p[10 + 3 * c], *qc = &q[10 + 3 * c];
            B[e][c][0] = pc[2];
            B[e][c][1] = pc[1] - qc[2];
            B[e][c][2] = pc[0] - qc[1];
            B[e][c][3] = -qc[0];
        }
        B[e][2][0] = p[19];
        B[e][2][1] = p[18] - q[19];
        B[e][2][2] = p[17] - q[18];
        B[e][2][3] = p[16] - q[17];
        B[e][2][4] = -q[16];
    }
}

/* out += s a b for polynomials in z with na and nb coefficients. */
static void add_product(double s, const double *a, int na, const double *b, int nb, double *out) {
    for (int i = 0; i < na; ++i)
        for (int j = 0; j < nb; ++j)
            out[i + j] += s * a[i] * b[j];
}

static void expand_determinant(z_matrix B, double out[11]) {
    memset(out, 0, 11 * sizeof *out);
    for (int k = 0; k < 3; ++k) { /* along the constant column */
        int a = (k + 1) % 3, b = (k + 2) % 3;
        double minor[7] = {0};
        add_product(1.0, B[a][0], 4, B[b][1], 4, minor);
        add_product(-1.0, B[a][1], 4, B[b][0], 4, minor);
        add_product(1.0, B[k][2], 5, minor, 7, out);
    }
}

/* x and y of a root z: the null vector (x, y, 1) of B(z) from its best conditioned two rows. */
static bool solve_xy(z_matrix B, double z, double *x, double *y) {
    double rows[3][3], best[3] = {0, 0, 0};
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            const double *c = B[i][j];
            rows[i][j] = (((c[4] * z + c[3]) * z + c[2]) * z + c[1]) * z + c[0];
        }
    for (int k = 0; k < 3; ++k) {
        double n[3];
        psfm_cross3(rows[(k + 1) % 3], rows[(k + 2) % 3], n);
        if (fabs(n[2]) > fabs(best[2]))
            memcpy(best, n, sizeof best);
    }
    *x = best[0] / best[2];
    *y = best[1] / best[2];
    return isfinite(*x) && isfinite(*y);
}

int psfm_five_point(const double ray1[5][3], const double ray2[5][3], double E[10][9]) {
    double epipolar[5][9], basis[4][9], polynomial[11], roots[10];
    linear entries[9];
    cubic rows[10];
    z_matrix B;
    for (int p = 0; p < 5; ++p)
        for (int k = 0; k < 9; ++k)
            epipolar[p][k] = ray2[p][k / 3] * ray1[p][k % 3];
    if (!psfm_null_space(5, epipolar, basis))
        return 0;
    for (int k = 0; k < 9; ++k)
        for (int b = 0; b < 4; ++b)
            entries[k][b] = basis[b][k];
    fill_constraints((const linear *)entries, rows);
    if (!eliminate_rows(rows))
        return 0;
    hidden_variable((const cubic *)rows, B);
    expand_determinant(B, polynomial);
    int num_roots = psfm_polynomial_roots(polynomial, 10, roots), num = 0;
    for (int k = 0; k < num_roots; ++k) {
        double x, y, z = roots[k];
        if (!solve_xy(B, z, &x, &y))
            continue;
        double scale = 1.0 / sqrt(x * x + y * y + z * z + 1.0);
        for (int m = 0; m < 9; ++m)
            E[num][m] = scale * (x * basis[0][m] + y * basis[1][m] + z * basis[2][m] + basis[3][m]);
        ++num;
    }
    return num;
}
