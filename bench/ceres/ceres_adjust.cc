// The problem as a user of Ceres would pose it: derivatives found by Ceres, points eliminated
// first.
#include "ceres_adjust.h"

#include <ceres/ceres.h>
#include <ceres/rotation.h>

namespace {

struct Reprojection {
    const double *pinhole, *xy;

    template <typename T> bool operator()(const T *pose, const T *point, T *residual) const {
        T ray[3], shifted[3] = {point[0] - pose[3], point[1] - pose[4], point[2] - pose[5]};
        ceres::AngleAxisRotatePoint(pose, shifted, ray);
        residual[0] = pinhole[0] * ray[0] / ray[2] + pinhole[2] - xy[0];
        residual[1] = pinhole[1] * ray[1] / ray[2] + pinhole[3] - xy[1];
        return true;
    }
};

ceres::LinearSolverType SolverOf(ceres_way way) {
    return way == CERES_SPARSE_SCHUR  ? ceres::SPARSE_SCHUR
           : way == CERES_DENSE_SCHUR ? ceres::DENSE_SCHUR
                                      : ceres::ITERATIVE_SCHUR;
}

} // namespace

ceres_outcome ceres_adjust(const ceres_problem *p, ceres_way way, double tolerance, int threads) {
    ceres::Problem problem;
    ceres::Solver::Options options;
    options.linear_solver_type = SolverOf(way);
    options.num_threads = threads;
    options.max_num_iterations = 200;
    options.function_tolerance = tolerance;
    options.gradient_tolerance = options.parameter_tolerance = 0.0;
    if (way == CERES_ITERATIVE_SCHUR) {
        options.preconditioner_type = ceres::SCHUR_JACOBI;
        options.use_explicit_schur_complement = false;
    }
    options.linear_solver_ordering = std::make_shared<ceres::ParameterBlockOrdering>();
    ceres::LossFunction *loss = p->cauchy_px > 0.0 ? new ceres::CauchyLoss(p->cauchy_px) : nullptr;
    for (size_t k = 0; k < p->num_observations; ++k) {
        auto *cost = new ceres::AutoDiffCostFunction<Reprojection, 2, 6, 3>(
            new Reprojection{p->pinholes[p->image[k]], p->xy[k]});
        problem.AddResidualBlock(cost, loss, p->poses[p->image[k]], p->points[p->point[k]]);
    }
    for (size_t k = 0; k < p->num_points; ++k)
        options.linear_solver_ordering->AddElementToGroup(p->points[k], 0);
    for (size_t k = 0; k < p->num_images; ++k)
        options.linear_solver_ordering->AddElementToGroup(p->poses[k], 1);
    problem.SetParameterBlockConstant(p->poses[p->held]);
    ceres::Solver::Summary summary;
    ceres::Solve(options, &problem, &summary);
    return {summary.final_cost, static_cast<int>(summary.iterations.size()) - 1};
}
