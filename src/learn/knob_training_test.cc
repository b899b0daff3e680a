#include "learn/knob_training.h"

#include <gtest/gtest.h>

namespace smartmig {
namespace {

// Two generations for each search on a fleet of one GPU.
const std::string kRecipe = R"([policy]
kind = "smartmig"
[workload]
fleet = "1xA100-40GB"
[evolution]
generations = 2
population = 4
days_per_generation = 1
cases = ["rate=.5", "rate=.3 training_share=.5 weight=2"]
)";

KnobTraining begin() {
  auto training = KnobTraining::make(parse_recipe(kRecipe, "r").value(), kRecipe);
  EXPECT_TRUE(training) << training.error().message;
  return std::move(*training);
}

std::string bytes_of(const TensorFile& file) { return encode_safetensors(file, "x").value(); }

std::string train(int threads) {
  KnobTraining training = begin();
  WorkerPool pool(threads);
  while (!training.done()) training.step(pool);
  EXPECT_EQ(std::ssize(training.curve()), training.generations());
  return bytes_of(training.policy());
}

TEST(KnobTraining, GivesTheSameBytesOnAnyNumberOfThreads) {
  const std::string once = train(1);
  EXPECT_EQ(train(1), once);
  EXPECT_EQ(train(2), once);
  const auto knobs = get_knobs(decode_safetensors(once, "x").value(), "x");
  ASSERT_TRUE(knobs);
  EXPECT_NE(knobs->free_moves, first_knobs().free_moves);
  EXPECT_NE(knobs->costly_moves, first_knobs().costly_moves);
}

TEST(KnobTraining, GoesOnFromACheckpointToTheSameBytes) {
  const std::string whole = train(1);
  for (std::int64_t stop = 0; stop <= 4; ++stop) {
    WorkerPool pool(1);
    KnobTraining first = begin();
    for (std::int64_t i = 0; i < stop; ++i) first.step(pool);
    const std::string checkpoint = bytes_of(first.checkpoint());
    KnobTraining second = begin();
    const auto taken = second.resume(decode_safetensors(checkpoint, "c").value(), "c");
    ASSERT_TRUE(taken) << taken.error().message;
    while (!second.done()) second.step(pool);
    EXPECT_EQ(bytes_of(second.policy()), whole) << "stopped after " << stop;
    EXPECT_EQ(second.curve().size(), 4u);
  }
}

TEST(KnobTraining, LeavesHeldKnobsAlone) {
  const std::string text = kRecipe + "[held]\nhorizon = 20\nprice_later_trend = 0\n";
  auto training = KnobTraining::make(parse_recipe(text, "r").value(), text);
  ASSERT_TRUE(training) << training.error().message;
  WorkerPool pool(1);
  while (!training->done()) training->step(pool);
  const auto knobs = get_knobs(training->policy(), "p");
  ASSERT_TRUE(knobs);
  for (const Knobs& found : {knobs->free_moves, knobs->costly_moves}) {
    EXPECT_EQ(get(found, Knob::kHorizon), 20);
    EXPECT_EQ(get(found, Knob::kPriceLaterTrend), 0);
  }
  EXPECT_NE(get(knobs->free_moves, Knob::kPriceNow),
            get(first_knobs().free_moves, Knob::kPriceNow));
}

TEST(KnobTraining, RefusesACheckpointOfAnotherRecipe) {
  const std::string other = kRecipe + "# changed\n";
  auto training = KnobTraining::make(parse_recipe(other, "r").value(), other);
  EXPECT_EQ(training->resume(begin().checkpoint(), "c").error().message,
            "c: was begun with another recipe, expected the same text");
}

TEST(KnobCase, ReadsItsFields) {
  const auto made = parse_knob_case(
      "rate=12 deadlines=2:4 training_share=.5 fleet=2xA30 estimate_error=.3 weight=3", {});
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->workload.rate, 12);
  EXPECT_EQ(made->workload.deadlines.high, 4);
  EXPECT_EQ(made->workload.training_share, 0.5);
  EXPECT_EQ(made->fleet.name(), "2xA30");
  EXPECT_EQ(made->estimate_error, 0.3);
  EXPECT_EQ(made->weight, 3);
}

TEST(KnobCase, SaysWhatIsWrong) {
  const auto error = [](std::string_view text) {
    return parse_knob_case(text, {}).error().message;
  };
  EXPECT_EQ(error("rate"), "case: found 'rate', expected FIELD=VALUE");
  EXPECT_EQ(error("rate=x"), "case: rate is 'x', expected a number from 0.001 to 1000000");
  EXPECT_EQ(error("rat=1"), "case: unknown field 'rat'; did you mean 'rate'?");
}

}  // namespace
}  // namespace smartmig
