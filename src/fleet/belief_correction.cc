#include "fleet/belief_correction.h"

#include <algorithm>
#include <cmath>

namespace smartmig {
namespace {

constexpr double kKept = 1 - 1. / 1000;  // Each later end multiplies a job's weight by this.
constexpr double kExact = 0.05;          // Estimates are taken as right while ...
constexpr double kMostly = 0.9;          // ... so many of them are within that.
// Before any job has ended: the mean error is 0, and so are the slopes, with these deviations.
constexpr double kPriorJobs = 2;
constexpr double kPriorVariance =
    0.5;  // Of what the features do not explain; counts as kPriorJobs.
constexpr BeliefCorrection::Features kSlopeSd = {0.5, 0.3, 0.3};
constexpr double kMostLn = 5;  // No estimate is corrected by more than about 150 times.

using Features = BeliefCorrection::Features;
using Matrix = std::array<Features, BeliefCorrection::kFeatures>;

// x with matrix * x = right; the matrix is symmetric and positive definite.
Features solution(Matrix matrix, const Features& right) {
  Features x = right;
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t r = i + 1; r < x.size(); ++r) {
      const double times = matrix[r][i] / matrix[i][i];
      for (std::size_t c = i; c < x.size(); ++c) matrix[r][c] -= times * matrix[i][c];
      x[r] -= times * x[i];
    }
  }
  for (std::size_t i = x.size(); i-- > 0;) {
    for (std::size_t c = i + 1; c < x.size(); ++c) x[i] -= matrix[i][c] * x[c];
    x[i] /= matrix[i][i];
  }
  return x;
}

// How much of the sum of squares slopes explain, with the features' products and their products
// with what is explained.
double explained_by(const Features& slopes, const Matrix& products, const Features& with) {
  double explained = 0;
  for (std::size_t i = 0; i < slopes.size(); ++i) {
    explained += 2 * slopes[i] * with[i];
    for (std::size_t k = 0; k < slopes.size(); ++k)
      explained -= slopes[i] * products[i][k] * slopes[k];
  }
  return explained;
}

}  // namespace

BeliefCorrection::Features BeliefCorrection::features(const Job& job, double estimate_us) {
  const auto window_us = static_cast<double>(std::max<TimeUs>(1, job.deadline_us - job.submit_us));
  const double ln_estimate = std::log(std::max(1., estimate_us));
  return {std::log(window_us) - ln_estimate, ln_estimate,
          job.kind == JobKind::kTraining ? 0.5 : -0.5};
}

void BeliefCorrection::arrive(const Features& features) {
  arrived_ += 1;
  for (std::size_t i = 0; i < kFeatures; ++i) {
    arrived_sum_[i] += features[i];
    if (count_ == 0) means_[i] = arrived_sum_[i] / arrived_;
  }
}

void BeliefCorrection::add(const Features& features, double ratio) {
  const double error = std::log(std::max(ratio, 1e-6));
  const auto keep = [](double& sum, double more) { sum = sum * kKept + more; };
  ++ends_;
  keep(count_, 1);
  keep(right_, std::abs(error) < kExact);
  keep(error_, error);
  keep(error_squares_, error * error);
  for (std::size_t i = 0; i < kFeatures; ++i) {
    keep(sum_[i], features[i]);
    keep(with_error_[i], features[i] * error);
    for (std::size_t k = 0; k <= i; ++k) keep(products_[i][k], features[i] * features[k]);
  }
  exact_ = right_ >= kMostly * count_;
  if (!exact_) solve();
}

// Ridge regression about the means, the noise estimated along with it.
void BeliefCorrection::solve() {
  mean_error_ = error_ / (count_ + kPriorJobs);
  for (std::size_t i = 0; i < kFeatures; ++i) means_[i] = sum_[i] / count_;
  Matrix products{};
  Features with_error{};
  for (std::size_t i = 0; i < kFeatures; ++i) {
    with_error[i] = with_error_[i] - means_[i] * error_;
    for (std::size_t k = 0; k <= i; ++k)
      products[i][k] = products[k][i] = products_[i][k] - count_ * means_[i] * means_[k];
  }
  const double about_mean = error_squares_ - error_ * error_ / count_;
  const auto noise_beside = [&](double explained) {
    return (std::max(0., about_mean - explained) + kPriorJobs * kPriorVariance) /
           (count_ + kPriorJobs);
  };
  double noise = noise_beside(0);
  for (int round = 0; round < 2; ++round) {
    Matrix ridge = products;
    for (std::size_t i = 0; i < kFeatures; ++i) ridge[i][i] += noise / (kSlopeSd[i] * kSlopeSd[i]);
    slopes_ = solution(ridge, with_error);
    noise = noise_beside(explained_by(slopes_, products, with_error));
  }
}

double BeliefCorrection::factor(const Features& features) const {
  if (exact_) return 1;
  double ln = mean_error_;
  for (std::size_t i = 0; i < kFeatures; ++i) ln += slopes_[i] * (features[i] - means_[i]);
  return std::exp(std::clamp(ln, -kMostLn, kMostLn));
}

}  // namespace smartmig
