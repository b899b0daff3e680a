// The catalogue of speed profiles: how fast a job runs on each slice size, as papers and measurements give it.
// Read from data/profiles.json; every entry names its source and its caveats.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "workload/job.h"

namespace smartmig {

struct SpeedProfile {
  std::string name;  // "bert-training", "miso-bert-b4", "h200-train-resnet50-b64"
  std::string set;   // "paper", "miso", "parvagpu", "sustech", "h200"
  JobKind kind = JobKind::kInference;
  std::array<double, kSizeCount> speed{};  // Relative to the largest entry's size 7g = 1; 0: does not run there.
  std::int32_t memory_mib = 0;             // 0: not known.
  // Board watts above the context-idle level that one such job adds on that size; 0: not measured.
  std::array<double, kSizeCount> watts{};
  std::string board;    // Where it was measured.
  std::string source;
  std::string caveat;   // "" if none.
};

class Catalogue {
 public:
  static const Catalogue& shipped();
  static Result<Catalogue> parse(std::string_view json, const std::string& name);

  const std::vector<SpeedProfile>& profiles() const { return profiles_; }
  Result<std::uint16_t> find(std::string_view name) const;  // The error suggests the nearest.
  std::vector<std::string> sets() const;

 private:
  std::vector<SpeedProfile> profiles_;
};

// Hour-of-day curves of data/curves.json: 24 numbers with mean 1, and whether their clock is real.
struct DiurnalCurve {
  std::string name;
  std::array<double, 24> by_hour{};
  bool phase_known = false;
  std::string what;
  std::string source;
};
const std::vector<DiurnalCurve>& shipped_curves();
Result<const DiurnalCurve*> find_curve(std::string_view name);

}  // namespace smartmig
