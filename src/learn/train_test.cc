#include "learn/train.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "policy/policy_file.h"

namespace smartmig {
namespace {

namespace fs = std::filesystem;

// Two blocks of two iterations, a second at most.
constexpr std::string_view kTiny = R"(
[workload]
fleet = "2xA100-40GB"
rates = [5]
days = 2
[network]
hidden = [8]
[ppo]
steps = 256
environments = 4
rollout_steps = 16
minibatch = 32
epochs = 2
restart_every = 2
)";

std::string recipe_text(const std::string& policy, std::string_view rest = kTiny) {
  return fmt::format("[policy]\n{}\n{}", policy, rest);
}

class Train : public testing::Test {
 protected:
  Train() { fs::create_directories(folder_); }
  ~Train() override { fs::remove_all(folder_); }

  Result<TrainingResult> run(const std::string& text, TrainingOptions options = {}) {
    const auto recipe = parse_recipe(text, "r.toml");
    if (!recipe) return pass_on(recipe);
    options.out = out();
    if (options.threads == 0) options.threads = 1;
    return train(*recipe, text, options);
  }
  std::string out() const { return (folder_ / "p.safetensors").string(); }
  std::string bytes(const std::string& path) const { return read_file(path).value_or(""); }

  fs::path folder_ = fs::path(testing::TempDir()) /
                     fmt::format("train_{}", testing::UnitTest::GetInstance()->random_seed()) /
                     testing::UnitTest::GetInstance()->current_test_info()->name();
};

const std::string kKinds[] = {"kind = \"mean-field\"", "kind = \"one-gpu\"",
                              "kind = \"two-level\"\nturns = 3"};

TEST_F(Train, GivesTheSameBytesOnAnyNumberOfThreads) {
  for (const std::string& kind : kKinds) {
    SCOPED_TRACE(kind);
    std::vector<std::string> found[3];
    for (int i = 0; i < 3; ++i) {
      const auto result = run(recipe_text(kind), {.out = {}, .threads = i == 2 ? 2 : 1});
      ASSERT_TRUE(result) << result.error().message;
      EXPECT_TRUE(result->done);
      for (const std::string& file : result->files) found[i].push_back(bytes(file));
    }
    EXPECT_GT(found[0].front().size(), 1000u);
    EXPECT_TRUE(found[0] == found[1]);
    EXPECT_TRUE(found[0] == found[2]);
  }
}

TEST_F(Train, StoppedAnywhereAndTakenUpGivesTheSameBytes) {
  for (const std::string& kind : kKinds) {
    SCOPED_TRACE(kind);
    const auto whole = run(recipe_text(kind));
    ASSERT_TRUE(whole) << whole.error().message;
    std::vector<std::string> expected;
    for (const std::string& file : whole->files) expected.push_back(bytes(file));
    for (const std::string& file : whole->files) fs::remove(file);
    const auto iterations = std::ssize(whole->curve);

    // It stops at every block on the way; a block may have begun before it was asked to.
    bool resume = false;
    for (std::int64_t stop = 1;; stop += 2) {
      TrainingOptions options;
      options.stop_after = stop;
      options.resume = resume;
      const auto part = run(recipe_text(kind), options);
      ASSERT_TRUE(part) << part.error().message;
      resume = true;
      if (part->done) {
        ASSERT_EQ(std::ssize(part->curve), iterations);
        for (std::size_t i = 0; i < part->curve.size(); ++i) {
          EXPECT_EQ(part->curve[i].steps, whole->curve[i].steps);
          EXPECT_EQ(part->curve[i].policy_loss, whole->curve[i].policy_loss);
        }
        for (std::size_t i = 0; i < expected.size(); ++i)
          EXPECT_TRUE(bytes(part->files[i]) == expected[i]) << part->files[i];
        break;
      }
      ASSERT_LT(stop, iterations);
      EXPECT_FALSE(fs::exists(whole->files.front()));
      EXPECT_TRUE(fs::exists(checkpoint_path(out())));
    }
    EXPECT_FALSE(fs::exists(checkpoint_path(out())));
  }
}

TEST_F(Train, PutsTheRecipeIntoThePolicyFile) {
  const std::string text =
      recipe_text("kind = \"mean-field\"\nevery = 7\nkeep = 2\nchoice = \"most-likely\"");
  ASSERT_TRUE(run(text));
  const auto file = read_safetensors(out());
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->metadata.at("recipe"), text);
  const auto policy = get_policy(*file, "p");
  ASSERT_TRUE(policy) << policy.error().message;
  EXPECT_EQ(policy->settings.every, 7);
  EXPECT_EQ(policy->settings.keep, 2);
  EXPECT_FALSE(policy->settings.sample);
}

TEST_F(Train, GivesTwoLevelsAFileEach) {
  const auto result = run(recipe_text("kind = \"two-level\"\nturns = 2"));
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_EQ(result->files.size(), 2u);
  EXPECT_TRUE(result->files[0].ends_with("p-layouts.safetensors")) << result->files[0];
  EXPECT_TRUE(result->files[1].ends_with("p-placer.safetensors")) << result->files[1];
  const auto layouts = get_policy(*read_safetensors(result->files[0]), "layouts");
  const auto placer = get_policy(*read_safetensors(result->files[1]), "placer");
  EXPECT_EQ(layouts->settings.kind, LearnedKind::kMeanField);
  EXPECT_TRUE(layouts->settings.sample);
  EXPECT_EQ(placer->settings.kind, LearnedKind::kSize);
  EXPECT_FALSE(placer->settings.sample);
  EXPECT_FALSE(fs::exists(out()));
}

TEST_F(Train, BeginsWhereAllStays) {
  // One step of a small rate: the first logits still show.
  std::string text = recipe_text("", kTiny);
  text.replace(text.find("hidden = [8]"), 12, "hidden = [8]\nstay = 5");
  text.replace(text.find("epochs = 2"), 10, "epochs = 2\nlearning_rate = 0");
  ASSERT_TRUE(run(text));
  const auto file = read_safetensors(out());
  const auto biases = file->floats("policy.bias", std::vector<std::int64_t>{144}, "p");
  ASSERT_TRUE(biases) << biases.error().message;
  for (int i = 0; i < 144; ++i) EXPECT_EQ((*biases)[i], i % 13 == 0 ? 5 : 0) << i;
}

TEST_F(Train, LearnsPlacementWithoutPreemptionOnly) {
  const std::string policy = "kind = \"placement\"\nlayouts = \"4-3,7\"";
  EXPECT_EQ(run(recipe_text(policy)).error().message,
            "workload.preemption: found 'free', expected none: placement is learned without");
  std::string text = recipe_text(policy);
  text.replace(text.find("days = 2"), 8, "days = 2\npreemption = \"none\"");
  const auto result = run(text);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->baseline, "static:4-3,7/slowest-on-time");
  EXPECT_EQ(read_safetensors(out())->metadata.at("slices"), "4,3,7");
}

TEST_F(Train, RefusesWhatDoesNotFitBeforeItWrites) {
  EXPECT_EQ(run(recipe_text("kind = \"smartmig\"")).error().message,
            "policy.kind: a smartmig policy is not learned by [ppo]");
  EXPECT_EQ(run(recipe_text("placer = \"cedff\"")).error().message,
            "unknown placer 'cedff'; did you mean 'cedf'?");
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(Train, RefusesACheckpointOfAnotherRecipeAndToForgetOne) {
  ASSERT_TRUE(run(recipe_text(""), {.out = {}, .stop_after = 1}));
  EXPECT_EQ(run(recipe_text("")).error().message,
            checkpoint_path(out()) +
                ": a training was stopped there, expected --resume or that the file is removed");
  EXPECT_EQ(run(recipe_text("every = 6"), {.out = {}, .resume = true}).error().message,
            checkpoint_path(out()) + ": is of another recipe, to the letter");
  ASSERT_TRUE(write_file(checkpoint_path(out()), bytes(checkpoint_path(out())).substr(0, 5000)));
  EXPECT_NE(run(recipe_text(""), {.out = {}, .resume = true})
                .error()
                .message.find(checkpoint_path(out())),
            std::string::npos);
}

}  // namespace
}  // namespace smartmig
