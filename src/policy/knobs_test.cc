#include "policy/knobs.h"

#include <gtest/gtest.h>

#include <set>

#include "base/shipped.h"

namespace smartmig {
namespace {

TEST(Knobs, HaveNamesAndScalesOfTheirOwn) {
  std::set<std::string_view> names;
  for (const KnobInfo& info : knob_infos()) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_GT(info.scale, 0);
  }
  const auto name_of = [](Knob knob) { return knob_infos()[static_cast<std::size_t>(knob)].name; };
  EXPECT_EQ(name_of(Knob::kOnTime), "on_time");
  EXPECT_EQ(name_of(Knob::kPriceLaterTrend), "price_later_trend");
  EXPECT_EQ(name_of(Knob::kTrainingBacklog), "training_backlog");
  EXPECT_EQ(name_of(Knob::kSteepnessBacklog), "steepness_backlog");
  EXPECT_EQ(name_of(Knob::kBackBacklog), "back_backlog");
  EXPECT_EQ(name_of(Knob::kMoveGain), "move_gain");
  EXPECT_EQ(name_of(Knob::kHold), "hold");
  EXPECT_EQ(name_of(Knob::kTilt), "tilt");
}

TEST(Knobs, ComeBackFromAFileAsTheyWere) {
  SmartmigKnobs knobs = first_knobs();
  knobs.free_moves[3] = 0.1;
  knobs.costly_moves[27] = -1.0 / 3;
  TensorFile file;
  put_knobs(file, knobs);
  const auto bytes = encode_safetensors(file, "a file");
  ASSERT_TRUE(bytes);
  const auto read = get_knobs(decode_safetensors(*bytes, "a file").value(), "a file");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->free_moves, knobs.free_moves);
  EXPECT_EQ(read->costly_moves, knobs.costly_moves);
}

TEST(Knobs, AreThoseShippedWhereNoFileIsNamed) {
  const auto shipped = read_knobs("");
  ASSERT_TRUE(shipped) << shipped.error().message;
  const auto file = decode_safetensors(shipped_file("smartmig.safetensors"), "shipped");
  EXPECT_EQ(shipped->free_moves, get_knobs(*file, "shipped")->free_moves);
  EXPECT_NE(shipped->free_moves, first_knobs().free_moves) << "a search has moved them";
  const auto missing = read_knobs("/no/such/file");
  ASSERT_FALSE(missing);
  EXPECT_TRUE(missing.error().message.starts_with("/no/such/file")) << missing.error().message;
}

TEST(Knobs, RefuseAFileOfAnotherKindOrSize) {
  TensorFile file;
  put_knobs(file, first_knobs());
  TensorFile other = file;
  other.metadata["policy"] = "mean-field";
  EXPECT_EQ(get_knobs(other, "x").error().message,
            "x: metadata 'policy' is 'mean-field', expected 'smartmig'");
  other = file;
  other.metadata["knobs_version"] = "0";
  EXPECT_TRUE(
      get_knobs(other, "x").error().message.starts_with("x: metadata 'knobs_version' is '0'"));
  other = file;
  const std::array<double, 3> few{};
  other.put("free_moves", std::span<const double>(few));
  EXPECT_FALSE(get_knobs(other, "x"));
}

}  // namespace
}  // namespace smartmig
