#include "foresight/error_model.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace smartmig {
namespace {

// Before any job has ended: estimates are off as people's are, and this counts as so many jobs.
constexpr double kPriorSigma = 1;
constexpr double kPriorJobs = 4;
constexpr double kPriorTrust =
    0.5;  // The prior's median, as a part of the fitted one: it pulls to 1.
constexpr int kRounds = 4;
constexpr double kExact = 0.05;  // Beliefs are taken as true while ...
constexpr double kMostly = 0.9;  // ... so many of them are within that.
constexpr double kMostSigma = 2;
constexpr double kOverdueFactor = 1.5;  // Where beliefs are exact and a job outlives its own.

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.)); }
double log_belief(const Job& believed) {
  return std::log(std::max(1., static_cast<double>(time_on_largest(believed))));
}

}  // namespace

ErrorModel::ErrorModel(const View& view, std::size_t recent_jobs, std::span<const double> done) {
  const std::size_t errors = view.belief_error_count();
  Moments ended;
  std::size_t right = 0;
  for (std::size_t i = 0; i < errors; ++i) {
    const double error = std::log(std::max(view.belief_error(i), 1e-6));
    ended.add(error);
    right += std::abs(error) < kExact;
  }
  exact_ = errors > 0 && static_cast<double>(right) >= kMostly * static_cast<double>(errors);
  if (exact_) return;
  const double sigma = fit(ended, done);

  std::array<Moments, 2> beliefs;
  const JobIndex end = view.arrived();
  for (JobIndex job = end - static_cast<JobIndex>(std::min<std::size_t>(recent_jobs, end));
       job < end; ++job) {
    const Job believed = view.believed_job(job);
    beliefs[static_cast<std::size_t>(believed.kind)].add(log_belief(believed));
  }
  for (std::size_t kind = 0; kind < of_kind_.size(); ++kind) {
    // What the beliefs' spread has beside the error is the jobs' own.
    const Moments& of = beliefs[kind];
    const double own = std::max(0., of.variance() - sigma * sigma);
    // Few beliefs tell little of their spread.
    const double trust = of.count < 3 ? 1 : own / std::max(of.variance(), 1e-12);
    of_kind_[kind] = {of.mean(), trust, sigma * std::sqrt(trust)};
  }
}

// The likeliest median and spread, where jobs that have not ended are known to take longer than
// they have run so far; by expectation and maximisation. Short jobs end first: by the ended ones
// alone every job would seem short.
double ErrorModel::fit(const Moments& ended, std::span<const double> done) {
  double sigma = kPriorSigma;
  for (int round = 0; round < kRounds; ++round) {
    Moments all = ended;
    all.count += kPriorJobs;
    all.squares += kPriorJobs * (kPriorSigma * kPriorSigma + bias_ * bias_);
    all.sum += kPriorJobs * bias_ * kPriorTrust;
    for (const double ran : done) {
      if (ran <= 0) continue;
      const double least = std::log(ran);
      const double a = (least - bias_) / sigma;
      const double above = std::max(1 - normal_cdf(a), 1e-12);
      const double hazard = std::exp(-a * a / 2) / std::sqrt(2 * std::numbers::pi) / above;
      all.count += 1;
      all.sum += bias_ + sigma * hazard;
      all.squares += bias_ * bias_ + sigma * sigma + sigma * hazard * (bias_ + least);
    }
    bias_ = all.mean();
    sigma = std::clamp(std::sqrt(std::max(0., all.squares / all.count - bias_ * bias_)), 0.01,
                       kMostSigma);
  }
  return sigma;
}

double ErrorModel::draw(const Job& believed, double done, Random& random) const {
  if (exact_) return done < 1 ? 1 : done * kOverdueFactor;
  const OfKind& kind = of_kind_[static_cast<std::size_t>(believed.kind)];
  const double median = bias_ - (1 - kind.trust) * (log_belief(believed) - kind.mean);
  const double spread = std::max(kind.spread, 0.01);
  const double below = done > 0 ? normal_cdf((std::log(done) - median) / spread) : 0;
  const double share = std::clamp(random.uniform(below, 1), 1e-9, 1 - 1e-9);
  return std::max(std::exp(median + spread * normal_quantile(share)), done * (1 + 1e-6));
}

}  // namespace smartmig
