#include "fleet/belief_correction.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"

namespace smartmig {
namespace {

// A job that takes `seconds` on a whole GPU and is due after `window` seconds.
Job due_in(double seconds, double window, JobKind kind = JobKind::kInference) {
  Job job;
  job.time_us.fill(to_us(seconds));
  job.deadline_us = to_us(window);
  job.kind = kind;
  return job;
}

BeliefCorrection::Features features_of(double estimate_s, double window_s) {
  return BeliefCorrection::features(due_in(estimate_s, window_s), estimate_s * kSecondUs);
}

TEST(BeliefCorrection, CorrectsNothingBeforeAnyJobHasEnded) {
  BeliefCorrection correction;
  correction.arrive(features_of(100, 150));
  EXPECT_EQ(correction.factor(features_of(100, 150)), 1);
  EXPECT_EQ(correction.factor(features_of(1, 1000)), 1);
}

TEST(BeliefCorrection, CorrectsNothingWhileEstimatesAreRight) {
  BeliefCorrection correction;
  for (int i = 0; i < 200; ++i) {
    const auto features = features_of(10 + i, 30 + 2 * i);
    correction.arrive(features);
    correction.add(features, i % 20 == 0 ? 3 : 1.01);
  }
  EXPECT_EQ(correction.factor(features_of(50, 500)), 1);
}

TEST(BeliefCorrection, LearnsThatAllEstimatesAreTooShort) {
  BeliefCorrection correction;
  Random random(1, "estimates");
  for (int i = 0; i < 500; ++i) {
    const double estimate = random.lognormal(4, 1);
    const auto features = features_of(estimate, estimate * random.uniform(2, 6));
    correction.arrive(features);
    correction.add(features, 3 * random.lognormal(0, 0.3));
  }
  EXPECT_NEAR(correction.factor(features_of(60, 240)), 3, 0.2);
}

// People who wait for a long job say a late deadline, whatever they estimate.
TEST(BeliefCorrection, LearnsWhatDeadlinesTell) {
  BeliefCorrection correction;
  Random random(2, "estimates");
  for (int i = 0; i < 1000; ++i) {
    const double truth = random.lognormal(5, 1.5);
    const double estimate = truth * random.lognormal(0, 1);
    const auto features = features_of(estimate, truth * random.uniform(1, 1.5));
    correction.arrive(features);
    correction.add(features, truth / estimate);
  }
  double before = 0, after = 0;
  for (int i = 0; i < 1000; ++i) {
    const double truth = random.lognormal(5, 1.5);
    const double estimate = truth * random.lognormal(0, 1);
    const auto features = features_of(estimate, truth * random.uniform(1, 1.5));
    before += std::pow(std::log(estimate / truth), 2);
    after += std::pow(std::log(estimate * correction.factor(features) / truth), 2);
  }
  EXPECT_LT(after, 0.05 * before);
}

// Where nothing that is known of a job tells its error, what is learned is next to nothing.
TEST(BeliefCorrection, IsNotMisledByNoise) {
  BeliefCorrection correction;
  Random random(3, "estimates");
  double worst = 0;
  for (int i = 0; i < 1000; ++i) {
    const double estimate = random.lognormal(4, 1);
    const auto features = features_of(estimate, random.lognormal(5, 1));
    correction.arrive(features);
    if (i >= 100) worst = std::max(worst, std::abs(std::log(correction.factor(features))));
    correction.add(features, random.lognormal(0, 0.5));
  }
  EXPECT_LT(worst, 0.6);
}

TEST(BeliefCorrection, ForgetsWhatWasLongAgo) {
  BeliefCorrection correction;
  Random random(4, "estimates");
  for (int i = 0; i < 10'000; ++i) {
    const double estimate = random.lognormal(4, 1);
    const auto features = features_of(estimate, 5 * estimate);
    correction.arrive(features);
    correction.add(features, (i < 5000 ? 4 : 0.5) * random.lognormal(0, 0.2));
  }
  EXPECT_NEAR(correction.factor(features_of(60, 300)), 0.5, 0.05);
}

}  // namespace
}  // namespace smartmig
