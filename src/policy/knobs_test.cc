#include "policy/knobs.h"

#include <gtest/gtest.h>

#include <set>

namespace smartmig {
namespace {

TEST(Knobs, HaveNamesAndScalesOfTheirOwn) {
  std::set<std::string_view> names;
  for (const KnobInfo& info : knob_infos()) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_GT(info.scale, 0);
  }
  EXPECT_EQ(knob_infos()[static_cast<std::size_t>(Knob::kMoveGain)].name, "move_gain");
  EXPECT_EQ(knob_infos()[static_cast<std::size_t>(Knob::kHold)].name, "hold");
  EXPECT_EQ(knob_infos()[static_cast<std::size_t>(Knob::kTilt)].name, "tilt");
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

TEST(Knobs, RefuseAFileOfAnotherKindOrSize) {
  TensorFile file;
  put_knobs(file, first_knobs());
  TensorFile other = file;
  other.metadata["policy"] = "mean-field";
  EXPECT_EQ(get_knobs(other, "x").error().message,
            "x: metadata 'policy' is 'mean-field', expected 'smartmig'");
  other = file;
  const std::array<double, 3> few{};
  other.put("free_moves", std::span<const double>(few));
  EXPECT_FALSE(get_knobs(other, "x"));
}

}  // namespace
}  // namespace smartmig
