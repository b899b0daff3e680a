// The catalogue of speed profiles (how fast a job runs on each slice size) and the hour-of-day
// curves, as papers and measurements give them. Read from data/profiles.json and data/curves.json;
// docs/formats/profiles.md and docs/formats/curves.md describe both. Every entry names its source.
// Values never change after loading, so any number of threads may read them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
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
  std::array<double, kSizeCount>
      speed{};                  // Relative to 7g, whose speed is 1; 0: does not run there.
  std::int32_t memory_mib = 0;  // 0: not known.
  // Board watts above the context-idle level that one such job adds on that size; 0: not measured.
  std::array<double, kSizeCount> watts{};
  std::string board;  // Where it was measured.
  std::string source;
  std::string caveat;  // "" if none.
};

class Catalogue {
 public:
  static const Catalogue& shipped();
  // `name` is for error lines.
  static Result<Catalogue> parse(std::string_view json, const std::string& name);

  const std::vector<SpeedProfile>& profiles() const { return profiles_; }
  Result<std::uint16_t> find(std::string_view name) const;  // The error suggests the nearest.
  std::vector<std::string> sets() const;                    // In the order of their first profile.

 private:
  std::vector<SpeedProfile> profiles_;
};

struct DiurnalCurve {
  std::string name;
  std::array<double, 24> by_hour{};  // Mean 1.
  // Arrivals a minute as published; all 0 where only the shape is known.
  std::array<double, 24> rate_per_minute{};
  bool phase_known = false;  // Hour 0 is midnight of the clock below.
  // Where it is not: by_hour[(h + shift) mod 24] is a guess at hour h, from the likeness to curves
  // that are known.
  std::optional<int> phase_shift_h;
  double phase_correlation = 0;  // How good that likeness is; 0: no guess.
  std::string what;              // What was counted.
  std::string clock;
  std::string source;
  std::string note;
  std::int64_t events = 0;  // 0: not published.
  int days = 0;
};

class JsonFields;
// A list of curves under a key of an object; errors are the document's.
std::vector<DiurnalCurve> read_curves(const JsonFields& fields, std::string_view key);
const std::vector<DiurnalCurve>& shipped_curves();
Result<std::vector<DiurnalCurve>> parse_curves(std::string_view json, const std::string& name);
// Among the shipped ones; the error suggests the nearest.
Result<const DiurnalCurve*> find_curve(std::string_view name);

}  // namespace smartmig
