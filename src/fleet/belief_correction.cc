#include "fleet/belief_correction.h"

#include <algorithm>
#include <cmath>

namespace smartmig {
namespace {

constexpr double kKept = 1 - 1. / 1000;  // Of a job's weight at each later end.
constexpr double kExact = 0.05;          // Estimates are taken as right while ...
constexpr double kMostly = 0.9;          // ... so many of them are within that.
// Before any job has ended: the mean error is 0, and so are the slopes, with these deviations.
constexpr double kPriorJobs = 2;
constexpr double kPriorVariance =
    0.5;  // Of what the features do not explain; counts as kPriorJobs.
constexpr BeliefCorrection::Features kSlopeSd = {0.5, 0.3, 0.3};
constexpr double kMostLn = 5;  // No estimate is corrected by more than about 150 times.

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
  std::array<Features, kFeatures> a{};
  Features b{};
  for (std::size_t i = 0; i < kFeatures; ++i) {
    b[i] = with_error_[i] - means_[i] * error_;
    for (std::size_t k = 0; k <= i; ++k)
      a[i][k] = a[k][i] = products_[i][k] - count_ * means_[i] * means_[k];
  }
  const double about_mean = error_squares_ - error_ * error_ / count_;
  double noise = (about_mean + kPriorJobs * kPriorVariance) / (count_ + kPriorJobs);
  for (int round = 0; round < 2; ++round) {
    auto matrix = a;
    slopes_ = b;
    for (std::size_t i = 0; i < kFeatures; ++i) {
      const double trust = noise / (kSlopeSd[i] * kSlopeSd[i]);
      matrix[i][i] += trust;
      slopes_[i] += trust * kPriorSlopes[i];
    }
    // Gauss; the matrix is symmetric and positive definite.
    for (std::size_t i = 0; i < kFeatures; ++i) {
      for (std::size_t r = i + 1; r < kFeatures; ++r) {
        const double times = matrix[r][i] / matrix[i][i];
        for (std::size_t c = i; c < kFeatures; ++c) matrix[r][c] -= times * matrix[i][c];
        slopes_[r] -= times * slopes_[i];
      }
    }
    for (std::size_t i = kFeatures; i-- > 0;) {
      for (std::size_t c = i + 1; c < kFeatures; ++c) slopes_[i] -= matrix[i][c] * slopes_[c];
      slopes_[i] /= matrix[i][i];
    }
    double explained = 0;
    for (std::size_t i = 0; i < kFeatures; ++i) {
      explained += 2 * slopes_[i] * b[i];
      for (std::size_t k = 0; k < kFeatures; ++k) explained -= slopes_[i] * a[i][k] * slopes_[k];
    }
    noise = (std::max(0., about_mean - explained) + kPriorJobs * kPriorVariance) /
            (count_ + kPriorJobs);
  }
}

double BeliefCorrection::factor(const Features& features) const {
  if (exact_) return 1;
  double ln = mean_error_;
  for (std::size_t i = 0; i < kFeatures; ++i) ln += slopes_[i] * (features[i] - means_[i]);
  return std::exp(std::clamp(ln, -kMostLn, kMostLn));
}

}  // namespace smartmig
