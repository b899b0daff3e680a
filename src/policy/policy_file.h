// A learned policy: a network, how its observations are normalised, and what it was trained for;
// and the file that holds it (docs/formats/safetensors.md). Reading refuses, with one line, a file
// that was changed or cut short, is of another kind, for another board, or for inputs that this
// version does not have.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "fleet/fleet.h"
#include "nn/network.h"
#include "nn/normaliser.h"
#include "nn/safetensors.h"

namespace smartmig {

enum class LearnedKind : std::uint8_t { kMeanField, kOneGpu, kPlacement, kSize };
std::string_view to_string(LearnedKind kind);

struct LearnedSettings {
  LearnedKind kind = LearnedKind::kMeanField;
  std::string board = {};  // Its name; the fleet has GPUs of this board.
  // Layouts: whether the last input is there, the events between two decisions.
  bool queue_length = true;
  int every = 5;
  // How options are chosen: drawn from the `keep` most likely (0: all), or the most likely.
  int keep = 3;
  bool sample = true;
  // Placement: the sizes of the slices by index ("7,7,4,3").
  std::string slices = {};
};

struct LearnedPolicy {
  LearnedSettings settings;
  Network network;
  Normaliser normaliser;
};

// What a network for these settings has; the board must be known.
struct LearnedShape {
  int inputs = 0;
  int heads = 1;
  int options = 0;
};
LearnedShape learned_shape(const LearnedSettings& settings, const Board& board);

// The sizes of a fleet's slices by index, as LearnedSettings::slices has them.
std::string slice_sizes(const Fleet& fleet, std::span<const SlotSet> layouts);

// For whoever writes more into the same file, or has put the network there already.
void put_settings(TensorFile& file, const LearnedSettings& settings);
void put_policy(TensorFile& file, const LearnedPolicy& policy);
Result<LearnedPolicy> get_policy(const TensorFile& file, std::string_view name);

Result<void> write_policy_file(const std::string& path, const LearnedPolicy& policy);
// For this fleet. An empty path: the shipped policy of that name ("mean-field"), where there is
// one. A path that names no file may be the name of any shipped one ("two-level-layouts").
Result<std::shared_ptr<const LearnedPolicy>> read_policy_file(const std::string& path,
                                                              std::string_view shipped,
                                                              const Fleet& fleet);

}  // namespace smartmig
