// What ended jobs teach about how long others take: people's estimates are off, and so they are
// corrected by what an estimate and a deadline told of jobs before (docs/model/semantics.md, "What
// a policy believes"). A regression of ln(time taken / estimate) on three things that are known of
// a job when it arrives: ln(time to its deadline / estimate), ln(estimate), and its kind. Where
// estimates are right nothing is corrected.
#pragma once

#include <array>

#include "workload/job.h"

namespace smartmig {

class BeliefCorrection {
 public:
  // What is known of a job whose work was estimated to take `estimate_us` on its largest size.
  static constexpr std::size_t kFeatures = 3;
  using Features = std::array<double, kFeatures>;
  static Features features(const Job& job, double estimate_us);

  void clear() { *this = {}; }
  // A job with these features has arrived.
  void arrive(const Features& features);
  // A job with these features took `ratio` times its estimate.
  void add(const Features& features, double ratio);
  long ends() const { return ends_; }  // Jobs added.
  // How many times its estimate a job is expected to take (a median); 1 while estimates are right.
  double factor(const Features& features) const;

 private:
  void solve();

  long ends_ = 0;
  Features arrived_sum_{};
  double arrived_ = 0;
  // Sums over the jobs that ended, of which earlier ones count less and less.
  double count_ = 0;
  double right_ = 0;  // Jobs whose estimate was right.
  Features sum_{};
  std::array<Features, kFeatures> products_{};
  Features with_error_{};
  double error_ = 0;
  double error_squares_ = 0;
  // The answer so far.
  bool exact_ = false;
  double mean_error_ = 0;
  Features means_{};
  Features slopes_{};
};

}  // namespace smartmig
