#include "workload/tres.h"

#include <algorithm>
#include <string>

#include "base/text.h"
#include "mig/board.h"

namespace smartmig {
namespace {

constexpr std::int64_t kMaxCount = 1'000'000'000;

// "a100_3g.20gb" -> "3g.20gb": where the name of a MIG profile starts, with any board name before
// it.
std::string_view mig_profile(std::string_view type) {
  for (std::size_t i = 0; i + 3 < type.size(); ++i) {
    const bool starts_word =
        i == 0 || type[i - 1] == '_' || type[i - 1] == '-' || type[i - 1] == '.';
    if (starts_word && type[i] >= '1' && type[i] <= '7' && type[i + 1] == 'g' &&
        type[i + 2] == '.' && type[i + 3] >= '0' && type[i + 3] <= '9') {
      return type.substr(i);
    }
  }
  return {};
}

// The least memory a profile of that name has on any board; the attribute behind a '+' or '.'
// ("+me", ".me") does not change it. 0: no board has one.
std::int32_t profile_memory_mib(std::string_view profile) {
  const std::size_t gb = profile.find("gb");
  if (gb != std::string_view::npos) profile = profile.substr(0, gb + 2);
  std::int32_t least = 0;
  for (const Board& board : BoardTable::shipped().boards()) {
    for (const Profile& known : board.profiles) {
      if (known.name != profile) continue;
      least = least == 0 ? known.memory_mib : std::min(least, known.memory_mib);
    }
  }
  return least;
}

}  // namespace

std::optional<TresGpus> parse_tres(std::string_view text) {
  TresGpus gpus;
  std::int64_t total = 0;  // The entry without a type, which counts all of them.
  std::int64_t typed = 0;
  bool plain = false;  // A whole GPU, or slices of two sizes.
  for (std::string_view entry : split(text, ',')) {
    entry = trim(entry);
    const std::size_t equals = entry.find('=');
    const std::string_view key = entry.substr(0, equals);
    if (key == "gres/shard" || key.starts_with("gres/shard:")) gpus.shards = true;
    if (key != "gres/gpu" && !key.starts_with("gres/gpu:")) continue;
    if (equals == std::string_view::npos) return std::nullopt;
    const auto count = parse_integer(entry.substr(equals + 1));
    if (!count || *count < 0 || *count > kMaxCount) return std::nullopt;
    if (key == "gres/gpu") {
      total = *count;
      continue;
    }
    if (*count == 0) continue;
    typed = std::min(typed + *count, kMaxCount);
    const std::string_view profile = mig_profile(key.substr(std::string_view("gres/gpu:").size()));
    const int slices = profile.empty() ? 0 : profile[0] - '0';
    if (slices == 0 || (gpus.mig_slices != 0 && gpus.mig_slices != slices)) plain = true;
    gpus.mig_slices = slices;
    if (slices != 0) gpus.memory_mib = std::max(gpus.memory_mib, profile_memory_mib(profile));
  }
  gpus.count = std::max(total, typed);
  if (plain || typed < total) gpus.mig_slices = gpus.memory_mib = 0;
  return gpus;
}

}  // namespace smartmig
