#include "policy/learned.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "policy/layout_control.h"
#include "policy/placement_inputs.h"
#include "policy/registry.h"
#include "policy/situation.h"

namespace smartmig {
namespace {

class LearnedFiles : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static LearnedPolicy random_policy(const LearnedSettings& settings) {
    const Board& board = **BoardTable::shipped().find(settings.board);
    const LearnedShape shape = learned_shape(settings, board);
    Network network({.inputs = shape.inputs,
                     .hidden = {16},
                     .outputs = shape.heads * shape.options,
                     .value_head = true,
                     .activation = Activation::kTanh});
    Random random(3, "learned test");
    network.initialise(random);
    for (float& weight : network.parameters()) weight += 0.3f * static_cast<float>(random.normal());
    Normaliser normaliser;
    normaliser.mean.assign(static_cast<std::size_t>(shape.inputs), 0.1f);
    normaliser.scale.assign(static_cast<std::size_t>(shape.inputs), 2.0f);
    return {settings, std::move(network), std::move(normaliser)};
  }

  std::string written(const LearnedSettings& settings, const std::string& name = "policy") {
    const std::string path = (folder_ / (name + ".safetensors")).string();
    const auto done = write_policy_file(path, random_policy(settings));
    EXPECT_TRUE(done.has_value());
    return path;
  }

  static std::string error_of(const std::string& spec, std::string_view fleet = "8xA100-40GB") {
    const Fleet parsed = *Fleet::parse(fleet);
    const auto made = make_policy(spec, parsed);
    return made ? "no error" : made.error().message;
  }

  static LearnedSettings for_board(LearnedKind kind, const std::string& board = "A100-40GB") {
    LearnedSettings settings;
    settings.kind = kind;
    settings.board = board;
    return settings;
  }

  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() /
      fmt::format("smartmig_learned_{}_{}", ::testing::UnitTest::GetInstance()->random_seed(),
                  testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(LearnedFiles, GiveBackWhatWasWritten) {
  LearnedSettings settings = for_board(LearnedKind::kPlacement);
  settings.slices = "7,4,3";
  settings.sample = false;
  settings.keep = 0;
  settings.every = 2;
  const std::string path = written(settings);
  const Fleet fleet = *Fleet::parse("2xA100-40GB");
  const auto read = read_policy_file(path, "learned", fleet);
  ASSERT_TRUE(read) << read.error().message;
  const LearnedSettings& found = (*read)->settings;
  EXPECT_EQ(found.kind, LearnedKind::kPlacement);
  EXPECT_EQ(found.slices, "7,4,3");
  EXPECT_FALSE(found.sample);
  EXPECT_EQ(found.keep, 0);
  EXPECT_EQ(found.every, 2);
  EXPECT_TRUE(std::ranges::equal((*read)->network.parameters(),
                                 random_policy(settings).network.parameters()));
}

TEST_F(LearnedFiles, AreRefusedWhereTheyDoNotFit) {
  const std::string fleet_policy = written(for_board(LearnedKind::kMeanField), "fleet");
  const std::string one = written(for_board(LearnedKind::kOneGpu), "one");
  const std::string size = written(for_board(LearnedKind::kSize), "size");
  LearnedSettings course = for_board(LearnedKind::kPlacement);
  course.slices = "7,4,3";
  const std::string placement = written(course, "placement");

  EXPECT_EQ(error_of("mean-field:" + fleet_policy + "/cedf"), "no error");
  EXPECT_EQ(error_of("mean-field:" + fleet_policy + "/cedf", "8xH100-80GB"),
            fleet_policy + ": trained for A100-40GB, found H100-80GB in the fleet");
  EXPECT_EQ(error_of("mean-field:" + fleet_policy + "/cedf", "1xA100-40GB+1xA30"),
            "policy mean-field: found 2 boards in the fleet, expected one");
  EXPECT_EQ(error_of("mean-field:" + one + "/cedf"),
            "policy mean-field: " + one + " holds a one-gpu policy");
  EXPECT_EQ(error_of("one-gpu:" + one + "/edf"),
            "policy one-gpu: found 8 GPUs in the fleet, expected one");
  EXPECT_EQ(error_of("one-gpu:" + one + "/edf", "1xA100-40GB"), "no error");
  EXPECT_EQ(error_of("none/learned:" + one), "policy learned: " + one + " holds a one-gpu policy");
  EXPECT_EQ(error_of("count/learned:" + size), "no error");
  EXPECT_EQ(error_of("mean-field:" + fleet_policy + "/learned:" + size), "no error");
  EXPECT_EQ(error_of("count/learned:" + placement),
            "policy learned: " + placement +
                " is for fixed layouts, expected static:LAYOUTS/learned:FILE");
  EXPECT_EQ(error_of("static:7,7/learned:" + placement, "2xA100-40GB"),
            "policy learned: " + placement + " is for slices 7,4,3, found 7,7");
  EXPECT_EQ(error_of("static:7,4-3/learned:" + placement, "2xA100-40GB"), "no error");
}

TEST_F(LearnedFiles, AreRefusedWhereTheyWereDamaged) {
  const std::string path = written(for_board(LearnedKind::kMeanField));
  const std::string bytes = *read_file(path);
  for (std::size_t at = 0; at < bytes.size(); at += 97) {
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 4);
    ASSERT_TRUE(write_file(path, changed).has_value());
    EXPECT_NE(error_of("mean-field:" + path + "/cedf"), "no error") << "byte " << at;
  }
  for (const std::size_t length :
       {std::size_t{0}, std::size_t{7}, bytes.size() / 2, bytes.size() - 1}) {
    ASSERT_TRUE(write_file(path, bytes.substr(0, length)).has_value());
    EXPECT_NE(error_of("mean-field:" + path + "/cedf"), "no error") << length << " bytes";
  }
  EXPECT_NE(error_of("mean-field:" + path + ".none/cedf"), "no error");
  EXPECT_EQ(error_of("mean-field:/cedf"), "policy mean-field: expected a file after the ':'");
  EXPECT_EQ(error_of("none/learned:"), "policy learned: expected a file after the ':'");
}

TEST_F(LearnedFiles, OfOtherInputsAreRefused) {
  TensorFile file;
  put_policy(file, random_policy(for_board(LearnedKind::kMeanField)));
  file.metadata["inputs_version"] = "99";
  const auto other = get_policy(file, "x");
  ASSERT_FALSE(other.has_value());
  EXPECT_EQ(other.error().message, "x: metadata 'inputs_version' is '99', expected 1");
  file.metadata["inputs_version"] = "1";
  file.metadata["queue_length"] = "no";
  const auto narrow = get_policy(file, "x");
  ASSERT_FALSE(narrow.has_value());
  EXPECT_EQ(narrow.error().message,
            "x: the network has 54 inputs and 144 outputs, expected 53 and 144 of a mean-field "
            "policy");
}

TEST_F(LearnedFiles, MoveTheGpusOfLowestIndexFirst) {
  Situation situation("6xA100-40GB", "7,7,4-3,7,7,4-3", {flat_job(60, 100)},
                      "mean-field:" + written(for_board(LearnedKind::kMeanField)) + "/cedf");
  View view = situation.view();
  std::vector<std::uint32_t> counts(144, 0);
  counts[0 * 12 + 2] = 1;  // Of `7`: one to 4-2-1, one to 3-3, two stay.
  counts[0 * 12 + 4] = 1;
  counts[0 * 12 + 0] = 2;
  counts[1 * 12 + 0] = 2;
  Decision decision;
  move_gpus(view, std::span<const std::uint32_t>(counts), decision);
  for (const Repartition& change : decision.repartitions)
    situation.state.set_target(change.gpu, change.target);
  EXPECT_EQ(situation.targets(), "4-2-1 3-3 7 7 7 7");
}

}  // namespace
}  // namespace smartmig
