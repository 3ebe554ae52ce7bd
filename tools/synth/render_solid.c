/* A ray o + s d is taken into the solid's frame, where every solid is a simple equation. The
 * footprint of a sample follows from the ray's neighbours (ray differentials, after Igehy): on the
 * tangent plane of the surface, dP = s (dd - (n . dd) / (n . d) d). */
#include "synth/render_solid.h"

#include "core/linalg/mat3.h"

/* Rectangles are many and mostly missed, so they look at one axis first. */
static double meet_rect(const psfm_solid *solid, const double from[3], const double dir[3],
                        double low, double high) {
    double s = -psfm_dot3(solid->axes + 6, from) / psfm_dot3(solid->axes + 6, dir);
    if (!(s > low && s < high))
        return high;
    double at[3];
    psfm_axpy3(from, s, dir, at);
    double u = psfm_dot3(solid->axes, at), v = psfm_dot3(solid->axes + 3, at);
    bool inside = u >= 0.0 && v >= 0.0 && u <= solid->size[0] && v <= solid->size[1];
    return inside ? s : high;
}

static double meet_box(const psfm_solid *solid, const double o[3], const double d[3], double low,
                       double high) {
    double enter = -HUGE_VAL, leave = HUGE_VAL;
    for (int k = 0; k < 3; ++k) {
        if (d[k] == 0.0) {
            if (fabs(o[k]) > solid->size[k])
                return high;
            continue;
        }
        double a = (-solid->size[k] - o[k]) / d[k], b = (solid->size[k] - o[k]) / d[k];
        enter = psfm_max(enter, psfm_min(a, b));
        leave = psfm_min(leave, psfm_max(a, b));
    }
    if (enter > leave)
        return high;
    double s = enter > low ? enter : leave;
    return s > low && s < high ? s : high;
}

/* The roots of a s^2 + 2 b s + c, the smaller one first; false if there are none. */
static bool solve_quadratic(double a, double b, double c, double roots[2]) {
    double square = b * b - a * c;
    if (!(square >= 0.0) || a == 0.0)
        return false;
    double root = sqrt(square);
    roots[0] = (-b - root) / a;
    roots[1] = (-b + root) / a;
    return true;
}

static double meet_ellipsoid(const psfm_solid *solid, const double o[3], const double d[3],
                             double low, double high) {
    double a = 0.0, b = 0.0, c = -1.0;
    for (int k = 0; k < 3; ++k) {
        double scale = 1.0 / solid->size[k], ok = o[k] * scale, dk = d[k] * scale;
        a += dk * dk;
        b += ok * dk;
        c += ok * ok;
    }
    double roots[2];
    if (!solve_quadratic(a, b, c, roots))
        return high;
    double s = roots[0] > low ? roots[0] : roots[1];
    return s > low && s < high ? s : high;
}

/* The side of a capsule where it is between the ends, and the two caps beyond them. */
static double meet_capsule(const psfm_solid *solid, const double o[3], const double d[3],
                           double low, double high) {
    double half = solid->size[2], best = high, roots[2];
    double a = d[0] * d[0] + d[1] * d[1], b = o[0] * d[0] + o[1] * d[1];
    double c = o[0] * o[0] + o[1] * o[1] - solid->size[0] * solid->size[0];
    for (int part = -1; part <= 1; ++part) { /* cap, side, cap */
        double z = o[2] - part * half, dz = part == 0 ? 0.0 : d[2], oz = part == 0 ? 0.0 : z;
        if (!solve_quadratic(a + dz * dz, b + oz * dz, c + oz * oz, roots))
            continue;
        for (int k = 0; k < 2; ++k) {
            double at = o[2] + roots[k] * d[2];
            bool is_there = part == 0 ? fabs(at) <= half : part * at >= half;
            if (is_there && roots[k] > low && roots[k] < best)
                best = roots[k];
        }
    }
    return best;
}

/* The side between the ends, and the two discs. */
static double meet_cylinder(const psfm_solid *solid, const double o[3], const double d[3],
                            double low, double high) {
    double half = solid->size[2], square = solid->size[0] * solid->size[0], best = high, roots[2];
    double a = d[0] * d[0] + d[1] * d[1], b = o[0] * d[0] + o[1] * d[1];
    if (solve_quadratic(a, b, o[0] * o[0] + o[1] * o[1] - square, roots))
        for (int k = 0; k < 2; ++k)
            if (fabs(o[2] + roots[k] * d[2]) <= half && roots[k] > low && roots[k] < best)
                best = roots[k];
    for (int end = -1; end <= 1 && d[2] != 0.0; end += 2) {
        double s = (end * half - o[2]) / d[2];
        double x = o[0] + s * d[0], y = o[1] + s * d[1];
        if (x * x + y * y <= square && s > low && s < best)
            best = s;
    }
    return best;
}

double psfm_solid_meet(const psfm_solid *solid, const double origin[3], const double dir[3],
                       double low, double high) {
    double from[3], o[3], d[3];
    psfm_sub3(origin, solid->origin, from);
    if (solid->kind == PSFM_RECT)
        return meet_rect(solid, from, dir, low, high);
    psfm_mat3_mul_vec(solid->axes, from, o);
    psfm_mat3_mul_vec(solid->axes, dir, d);
    switch (solid->kind) {
    case PSFM_BOX:
        return meet_box(solid, o, d, low, high);
    case PSFM_ELLIPSOID:
        return meet_ellipsoid(solid, o, d, low, high);
    case PSFM_CYLINDER:
        return meet_cylinder(solid, o, d, low, high);
    default:
        return meet_capsule(solid, o, d, low, high);
    }
}

/* The tangent frame of a place in the solid's frame: unit tangents, outward normal, and (u, v). */
typedef struct {
    double tangent_u[3], tangent_v[3], normal[3];
    double u, v;
    int face;
} patch;

static patch rect_patch(const double p[3]) {
    return (patch){{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, p[0], p[1], 0};
}

static patch box_patch(const psfm_solid *solid, const double p[3]) {
    int axis = 0;
    double most = -1.0;
    for (int k = 0; k < 3; ++k) {
        double share = fabs(p[k]) / solid->size[k];
        if (share > most) {
            most = share;
            axis = k;
        }
    }
    patch out = {.tangent_v = {0, 0, 1}, .face = 2 * axis + (p[axis] > 0.0)};
    double side = p[axis] > 0.0 ? 1.0 : -1.0;
    out.normal[axis] = side;
    if (axis == 2) {
        out.tangent_u[0] = out.tangent_v[1] = 1.0;
        out.tangent_v[2] = 0.0;
        out.u = p[0] + solid->size[0];
        out.v = p[1] + solid->size[1];
        return out;
    }
    double right = axis == 0 ? side : -side;
    out.tangent_u[1 - axis] = right;
    out.u = right * p[1 - axis] + solid->size[1 - axis];
    out.v = p[2] + solid->size[2];
    return out;
}

/* Whether a place on a cylinder is on one of its discs rather than on its side. */
static bool is_on_end(const psfm_solid *solid, const double p[3]) {
    double round = solid->size[0] - sqrt(p[0] * p[0] + p[1] * p[1]);
    return solid->size[2] - fabs(p[2]) < round;
}

static patch end_patch(const double p[3]) {
    double side = p[2] > 0.0 ? 1.0 : -1.0;
    return (patch){{1, 0, 0}, {0, 1, 0}, {0, 0, side}, p[0], p[1], p[2] > 0.0 ? 5 : 4};
}

/* Ellipsoids, capsules, the sides of cylinders. */
static patch round_patch(const psfm_solid *solid, const double p[3]) {
    if (solid->kind == PSFM_CYLINDER && is_on_end(solid, p))
        return end_patch(p);
    patch out = {.face = 0};
    if (solid->kind == PSFM_ELLIPSOID) {
        for (int k = 0; k < 3; ++k)
            out.normal[k] = p[k] / (solid->size[k] * solid->size[k]);
    } else {
        bool is_side = solid->kind == PSFM_CYLINDER;
        double end = is_side ? p[2] : psfm_clamp(p[2], -solid->size[2], solid->size[2]);
        out.normal[0] = p[0];
        out.normal[1] = p[1];
        out.normal[2] = p[2] - end;
    }
    psfm_normalize3(out.normal);
    out.u = solid->size[0] * atan2(p[1], p[0]);
    out.v = p[2] + solid->size[2];
    out.tangent_u[0] = -out.normal[1];
    out.tangent_u[1] = out.normal[0];
    if (psfm_normalize3(out.tangent_u) < 1e-12)
        out.tangent_u[0] = 1.0; /* at a pole */
    psfm_cross3(out.normal, out.tangent_u, out.tangent_v);
    return out;
}

/* Derivatives of (u, v) by one neighbour's step `dd` of the direction. */
static void find_footprint(const psfm_ray *ray, double distance, const patch *local,
                           const double dd[3], double *du, double *dv) {
    double slant = psfm_dot3(local->normal, ray->dir), step[3];
    double least = 0.02 * psfm_norm3(ray->dir); /* keeps the footprint finite at outlines */
    if (fabs(slant) < least)
        slant = slant < 0.0 ? -least : least;
    psfm_axpy3(dd, -psfm_dot3(local->normal, dd) / slant, ray->dir, step);
    *du = distance * psfm_dot3(local->tangent_u, step);
    *dv = distance * psfm_dot3(local->tangent_v, step);
}

void psfm_solid_surface(const psfm_solid *solid, const psfm_ray *ray, double distance,
                        psfm_surface *surface) {
    double from[3], p[3];
    psfm_axpy3(ray->origin, distance, ray->dir, surface->xyz);
    psfm_sub3(surface->xyz, solid->origin, from);
    psfm_mat3_mul_vec(solid->axes, from, p);
    patch local = solid->kind == PSFM_RECT  ? rect_patch(p)
                  : solid->kind == PSFM_BOX ? box_patch(solid, p)
                                            : round_patch(solid, p);
    surface->solid = solid;
    surface->face = local.face;
    surface->texel.u = local.u;
    surface->texel.v = local.v;
    psfm_mat3_tmul_vec(solid->axes, local.normal, local.normal);
    psfm_mat3_tmul_vec(solid->axes, local.tangent_u, local.tangent_u);
    psfm_mat3_tmul_vec(solid->axes, local.tangent_v, local.tangent_v);
    double *J = surface->texel.jac;
    find_footprint(ray, distance, &local, ray->dir_dx, &J[0], &J[2]);
    find_footprint(ray, distance, &local, ray->dir_dy, &J[1], &J[3]);
    psfm_texel_set_width(&surface->texel);
    double side = psfm_dot3(local.normal, ray->dir) > 0.0 ? -1.0 : 1.0;
    psfm_scale3(side, local.normal, surface->normal);
}

void psfm_solid_bounds(const psfm_solid *solid, double low[3], double high[3]) {
    double half[3], middle[3] = {0, 0, 0};
    for (int k = 0; k < 3; ++k)
        half[k] = solid->size[k];
    if (solid->kind == PSFM_RECT) {
        middle[0] = half[0] = 0.5 * solid->size[0];
        middle[1] = half[1] = 0.5 * solid->size[1];
        half[2] = 0.0;
    } else if (solid->kind == PSFM_CAPSULE || solid->kind == PSFM_CYLINDER) {
        half[1] = half[0];
        half[2] += solid->kind == PSFM_CAPSULE ? half[0] : 0.0;
    }
    psfm_mat3_tmul_vec(solid->axes, middle, middle);
    for (int k = 0; k < 3; ++k) {
        double reach = 0.0;
        for (int a = 0; a < 3; ++a)
            reach += fabs(solid->axes[3 * a + k]) * half[a];
        low[k] = solid->origin[k] + middle[k] - reach;
        high[k] = solid->origin[k] + middle[k] + reach;
    }
}
