#include "learn/learning_curve.h"

#include <gtest/gtest.h>

namespace smartmig {
namespace {

TEST(LearningCurve, HasARowForEachIterationAndNoMeanWithoutEpisodes) {
  PpoProgress first;
  first.iteration = 1;
  first.steps = 8192;
  first.kl = 0.0625;
  first.steps_per_s = 123;
  PpoProgress second = first;
  second.iteration = 2;
  second.episodes = 3;
  second.mean_return = -1.5;
  second.mean_et = 0.25;
  EXPECT_EQ(curve_csv(std::vector{first, second}),
            "iteration,steps,episodes,mean_return,mean_et,policy_loss,value_loss,entropy,kl,"
            "clip_fraction,explained_variance,gradient_length,skipped,learning_rate\n"
            "1,8192,0,,,0,0,0,0.0625,0,0,0,0,0\n"
            "2,8192,3,-1.5,0.25,0,0,0,0.0625,0,0,0,0,0\n");
}

TEST(LearningCurve, HasARowForEachGeneration) {
  EXPECT_EQ(curve_csv(std::vector<EvolutionProgress>{{1, 10, 0.5, 0.75, 0.3}}),
            "generation,evaluations,best,median,sigma\n1,10,0.5,0.75,0.3\n");
}

}  // namespace
}  // namespace smartmig
