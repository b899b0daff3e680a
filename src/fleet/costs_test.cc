#include "fleet/costs.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace smartmig {
namespace {

std::string costs_error_of(std::string_view json) {
  const auto costs = Costs::parse_json(json, "c.json");
  return costs ? "no error" : costs.error().message;
}

TEST(Costs, TheThreeNamesMeanWhatTheModelSays) {
  const Costs free = *Costs::parse("free");
  EXPECT_EQ(free.operation_scale, 0);
  EXPECT_EQ(free.deadline_cut_us, 0);
  EXPECT_FALSE(free.save_restore || free.real_power);
  const Costs paper = *Costs::parse("paper");
  EXPECT_EQ(paper.name, "paper");
  EXPECT_EQ(paper.deadline_cut_us, 4 * kSecondUs);
  EXPECT_EQ(paper.operation_scale, 0);
  const Costs real = *Costs::parse("real");
  EXPECT_EQ(real.name, "real");
  EXPECT_EQ(real.operation_scale, 1);
  EXPECT_EQ(real.deadline_cut_us, 0);
  EXPECT_TRUE(real.save_restore && real.real_power);
  EXPECT_FALSE(real.power_down_after_us);
  for (const Costs& shipped : {free, paper, real}) EXPECT_EQ(shipped.start_us, 0) << shipped.name;
  Job training;
  training.kind = JobKind::kTraining;
  EXPECT_EQ(real.checkpoint_us(training), 5 * kSecondUs);
  EXPECT_EQ(real.restore_us(training), 10 * kSecondUs);
  EXPECT_EQ(real.checkpoint_us(Job()), 0) << "inference";
}

TEST(Costs, AFileSetsEveryField) {
  const auto costs = Costs::parse_json(R"({
    // Comments are allowed.
    "name": "slow", "about": "for a test", "operation_scale": 2.5, "deadline_cut_s": 1.5, "start_s": 12.25, "save_restore": true,
    "checkpoint_s": {"inference": 0.25, "training": 20}, "restore_s": {"training": 40},
    "real_power": true, "power_down_after_s": 600, "off_w": 15})",
                                       "c.json");
  ASSERT_TRUE(costs) << costs.error().message;
  EXPECT_EQ(costs->name, "slow");
  EXPECT_EQ(costs->operation_scale, 2.5);
  EXPECT_EQ(costs->deadline_cut_us, 1'500'000);
  EXPECT_EQ(costs->start_us, 12'250'000);
  EXPECT_EQ(costs->scaled(2).start_us, 24'500'000);
  EXPECT_EQ(costs->checkpoint_ms, (std::array<std::int32_t, 2>{250, 20'000}));
  EXPECT_EQ(costs->restore_ms, (std::array<std::int32_t, 2>{0, 40'000}));
  EXPECT_EQ(costs->power_down_after_us, 600 * kSecondUs);
  EXPECT_EQ(costs->off_w, 15);
  EXPECT_EQ(Costs::parse_json("{}", "c.json")->name, "c.json")
      << "without a name it is called as its file";
}

TEST(Costs, AJobsOwnColumnsOverrideTheKind) {
  const Costs real = Costs::real();
  Job job;
  job.kind = JobKind::kTraining;
  job.checkpoint_ms = 0;
  job.restore_ms = 2500;
  EXPECT_EQ(real.checkpoint_us(job), 0);
  EXPECT_EQ(real.restore_us(job), 2'500'000);
  EXPECT_EQ(Costs::paper().restore_us(job), 0)
      << "where checkpoints cost nothing the columns do not count";
}

TEST(Costs, SaysWhatIsWrongWithAFile) {
  EXPECT_EQ(costs_error_of("[1]"), "c.json: is not a JSON object");
  EXPECT_EQ(costs_error_of("{"), "c.json: is not a JSON object");
  EXPECT_EQ(costs_error_of(R"({"operation_scal": 1})"),
            "c.json: unknown field 'operation_scal'; did you mean 'operation_scale'?");
  EXPECT_EQ(costs_error_of(R"({"operation_scale": -1})"),
            "c.json: operation_scale: found -1, expected a number from 0 to 1000000");
  EXPECT_EQ(costs_error_of(R"({"operation_scale": "fast"})"),
            "c.json: operation_scale: found \"fast\", expected a number from 0 to 1000000");
  EXPECT_EQ(costs_error_of(R"({"deadline_cut_s": 1e7})").substr(0, 28),
            "c.json: deadline_cut_s: foun");
  EXPECT_EQ(costs_error_of(R"({"save_restore": 1})"),
            "c.json: save_restore: found 1, expected true or false");
  EXPECT_EQ(costs_error_of(R"({"real_power": "yes"})"),
            "c.json: real_power: found \"yes\", expected true or false");
  EXPECT_EQ(costs_error_of(R"({"restore_s": 10})"),
            "c.json: restore_s: expected an object with inference and training");
  EXPECT_EQ(costs_error_of(R"({"checkpoint_s": {"training": -5}})"),
            "c.json: training: found -5, expected a number from 0 to 1000000");
  EXPECT_EQ(costs_error_of(R"({"checkpoint_s": {"trainin": 5}})"),
            "c.json: checkpoint_s: unknown field 'trainin'; did you mean 'training'?");
  EXPECT_EQ(costs_error_of(R"({"power_down_after_s": null})").substr(0, 40),
            "c.json: power_down_after_s: found null, ");
  EXPECT_EQ(costs_error_of(R"({"name": 7})"), "c.json: name: found 7, expected text");
  EXPECT_EQ(costs_error_of(R"({"off_w": -0.5})"),
            "c.json: off_w: found -0.5, expected a number from 0 to 1000000");
}

TEST(Costs, SuggestsTheNearestNameOrReadsAFile) {
  EXPECT_EQ(Costs::parse("papr").error().message,
            "--costs: 'papr' is no file and no cost model; did you mean 'paper'?");
  EXPECT_NE(Costs::parse("no/such.json").error().message.find("no/such.json"), std::string::npos);
  const std::string path = testing::TempDir() + "costs_test.json";
  std::ofstream(path) << R"({"deadline_cut_s": 2})";
  EXPECT_EQ(Costs::parse(path)->deadline_cut_us, 2 * kSecondUs);
  std::filesystem::remove(path);
}

TEST(Costs, PreemptionHasThreeNames) {
  for (const char* name : {"free", "checkpoint", "none"})
    EXPECT_EQ(to_string(*parse_preemption(name)), name);
  EXPECT_EQ(parse_preemption("chekpoint").error().message,
            "--preemption: found 'chekpoint'; did you mean 'checkpoint'?");
}

TEST(Costs, TrainingIsPreemptibleUnlessTheColumnSaysOtherwise) {
  Job job;
  EXPECT_FALSE(is_preemptible(job));
  job.kind = JobKind::kTraining;
  EXPECT_TRUE(is_preemptible(job));
  job.preemptible = Preemptible::kNo;
  EXPECT_FALSE(is_preemptible(job));
  job.kind = JobKind::kInference;
  job.preemptible = Preemptible::kYes;
  EXPECT_TRUE(is_preemptible(job));
}

TEST(Costs, ScaledOnesTakeThatManyTimesAsLong) {
  Job job;
  job.kind = JobKind::kTraining;
  const Costs real = Costs::real().scaled(2);
  EXPECT_EQ(real.name, "real x 2");
  EXPECT_EQ(real.operation_scale, 2);
  EXPECT_EQ(real.checkpoint_us(job), 10 * kSecondUs);
  EXPECT_EQ(real.restore_us(job), 20 * kSecondUs);
  job.checkpoint_ms = 3000;  // A job's own column too.
  EXPECT_EQ(real.checkpoint_us(job), 6 * kSecondUs);
  EXPECT_EQ(Costs::paper().scaled(.5).deadline_cut_us, 2 * kSecondUs);
  EXPECT_EQ(Costs::paper().scaled(1).name, "paper");
}

}  // namespace
}  // namespace smartmig
