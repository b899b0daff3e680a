#include "policy/policy_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>

#include "base/shipped.h"
#include "base/text.h"
#include "fleet/layout_numbers.h"
#include "nn/network_file.h"
#include "policy/layout_control.h"
#include "policy/placement_inputs.h"

namespace smartmig {
namespace {

// Counts up when an input or its scale changes: a network trained before must not be used after.
constexpr std::string_view kInputsVersion = "1";

constexpr std::array<std::string_view, 4> kKinds = {"mean-field", "one-gpu", "placement", "size"};
constexpr std::array<std::string_view, 2> kNoYes = {"no", "yes"};
constexpr std::array<std::string_view, 2> kChoices = {"most-likely", "sample"};

// Reads metadata field by field; the first thing that is wrong stays.
class Fields {
 public:
  Fields(const TensorFile& file, std::string_view name) : file_(file), name_(name) {}

  std::string text(std::string_view key) {
    auto found = file_.text(key, name_);
    if (!found && !error_) error_ = found.error();
    return found ? *found : std::string();
  }
  std::size_t one_of(std::string_view key, std::span<const std::string_view> words) {
    const std::string found = text(key);
    const auto at = std::find(words.begin(), words.end(), found);
    if (at != words.end()) return static_cast<std::size_t>(at - words.begin());
    wrong(key, found, fmt::format("{}", fmt::join(words, ", ")));
    return 0;
  }
  int number(std::string_view key, int low, int high) {
    const std::string found = text(key);
    const auto value = parse_integer(found);
    if (value && *value >= low && *value <= high) return static_cast<int>(*value);
    wrong(key, found, fmt::format("{} to {}", low, high));
    return low;
  }
  void wrong(std::string_view key, std::string_view found, std::string_view expected) {
    if (!error_)
      error_ = Error{fmt::format("{}: metadata '{}' is {}, expected {}", name_, key,
                                 in_quotes(found), expected)};
  }
  const std::optional<Error>& error() const { return error_; }

 private:
  const TensorFile& file_;
  std::string_view name_;
  std::optional<Error> error_;
};

Result<LearnedSettings> get_settings(const TensorFile& file, std::string_view name) {
  Fields fields(file, name);
  LearnedSettings settings;
  settings.kind = static_cast<LearnedKind>(fields.one_of("policy", kKinds));
  if (const std::string version = fields.text("inputs_version"); version != kInputsVersion)
    fields.wrong("inputs_version", version, kInputsVersion);
  settings.board = fields.text("board");
  settings.queue_length = fields.one_of("queue_length", kNoYes) == 1;
  settings.every = fields.number("every", 1, 1'000'000);
  settings.keep = fields.number("keep", 0, 64);
  settings.sample = fields.one_of("choice", kChoices) == 1;
  settings.slices = fields.text("slices");
  if (fields.error()) return tl::unexpected(*fields.error());
  return settings;
}

Result<TensorFile> read_tensors(const std::string& path, std::string_view shipped) {
  const std::string name = fmt::format("{}.safetensors", path.empty() ? shipped : path);
  if (path.empty() || !std::filesystem::exists(path)) {
    for (const ShippedFile& file : shipped_files()) {
      if (file.name == name) return decode_safetensors(file.bytes, name);
    }
  }
  if (!path.empty()) return read_safetensors(path);
  return fail("policy {}: none is shipped, expected a trained one: {}:FILE", shipped, shipped);
}

}  // namespace

std::string_view to_string(LearnedKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

LearnedShape learned_shape(const LearnedSettings& settings, const Board& board) {
  const int layouts = LayoutNumbers(board).choices();
  const int inputs = layout_input_count(layouts, settings.queue_length);
  const auto slices = static_cast<int>(split(settings.slices, ',').size());
  switch (settings.kind) {
    case LearnedKind::kMeanField:
      return {inputs, layouts, layouts};
    case LearnedKind::kOneGpu:
      return {inputs, 1, layouts};
    case LearnedKind::kPlacement:
      return {PlacementInputs::count(slices), 1, slices};
    case LearnedKind::kSize:
      return {kSizeInputs, 1, kSizeCount};
  }
  return {};
}

std::string slice_sizes(const Fleet& fleet, std::span<const SlotSet> layouts) {
  std::vector<std::pair<SliceId, int>> slices;
  for (GpuIndex gpu = 0; gpu < layouts.size(); ++gpu) {
    const Board& board = fleet.board(gpu);
    for (SlotSet rest = layouts[gpu]; rest; rest &= rest - 1) {
      const Slot& slot = board.slots[std::countr_zero(rest)];
      slices.emplace_back(fleet.slice_at(gpu, slot.start),
                          board.profiles[slot.profile].compute_slices);
    }
  }
  std::sort(slices.begin(), slices.end());
  std::vector<int> sizes;
  for (const auto& [slice, size] : slices) sizes.push_back(size);
  return fmt::format("{}", fmt::join(sizes, ","));
}

void put_settings(TensorFile& file, const LearnedSettings& settings) {
  file.metadata["policy"] = to_string(settings.kind);
  file.metadata["inputs_version"] = kInputsVersion;
  file.metadata["board"] = settings.board;
  file.metadata["queue_length"] = kNoYes[settings.queue_length];
  file.metadata["every"] = std::to_string(settings.every);
  file.metadata["keep"] = std::to_string(settings.keep);
  file.metadata["choice"] = kChoices[settings.sample];
  file.metadata["slices"] = settings.slices;
}

void put_policy(TensorFile& file, const LearnedPolicy& policy) {
  put_settings(file, policy.settings);
  put_network(file, policy.network);
  put_normaliser(file, policy.normaliser);
}

Result<LearnedPolicy> get_policy(const TensorFile& file, std::string_view name) {
  auto settings = get_settings(file, name);
  if (!settings) return pass_on(settings);
  const auto board = BoardTable::shipped().find(settings->board);
  if (!board) return fail("{}: {}", name, board.error().message);
  auto network = get_network(file, name);
  if (!network) return pass_on(network);
  const LearnedShape shape = learned_shape(*settings, **board);
  const NetworkShape& found = network->shape();
  if (found.inputs != shape.inputs || found.outputs != shape.heads * shape.options) {
    return fail("{}: the network has {} inputs and {} outputs, expected {} and {} of a {} policy",
                name, found.inputs, found.outputs, shape.inputs, shape.heads * shape.options,
                to_string(settings->kind));
  }
  auto normaliser = get_normaliser(file, shape.inputs, name);
  if (!normaliser) return pass_on(normaliser);
  return LearnedPolicy{std::move(*settings), std::move(*network), std::move(*normaliser)};
}

Result<void> write_policy_file(const std::string& path, const LearnedPolicy& policy) {
  TensorFile file;
  put_policy(file, policy);
  return write_safetensors(path, file);
}

Result<std::shared_ptr<const LearnedPolicy>> read_policy_file(const std::string& path,
                                                              std::string_view shipped,
                                                              const Fleet& fleet) {
  const auto file = read_tensors(path, shipped);
  if (!file) return pass_on(file);
  const std::string name = path.empty() ? std::string(shipped) : path;
  auto policy = get_policy(*file, name);
  if (!policy) return pass_on(policy);
  for (const Board* board : fleet.boards()) {
    if (board->name == policy->settings.board) continue;
    return fail("{}: trained for {}, found {} in the fleet", name, policy->settings.board,
                board->name);
  }
  return std::make_shared<const LearnedPolicy>(std::move(*policy));
}

}  // namespace smartmig
