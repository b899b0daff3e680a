// Published numbers beside ours: runs what each needs, and says whether they agree.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "study/compare.h"
#include "study/published_items.h"

namespace smartmig {

enum class Verdict { kAgrees, kDiffers, kNotStated };
std::string_view to_string(Verdict verdict);

struct ReproducedRow {
  std::string item;
  std::string what;
  std::string unit;
  std::optional<double> theirs;
  double error = 0;
  double ours = 0;
  // Of ours, 95 %; nothing for what is exact, or has one run.
  std::optional<double> low95, high95;
  Verdict verdict = Verdict::kNotStated;
  std::string command;  // "": no command prints it.
  std::string note;     // Why it differs, where that is known; else what there is to say.
};

// Two curves in the plane of energy (kJ a job) and tardiness (s), and where each bends.
struct ReproducedCurve {
  std::string what;
  std::string unit;            // Of the values,
  std::vector<double> values;  // which grow along both.
  std::vector<PlanePoint> theirs, ours;
  std::optional<std::size_t> their_knee, our_knee;
};

struct ReproducedItem {
  std::vector<ReproducedRow> rows;
  std::vector<ReproducedCurve> curves;
};

// Agrees where theirs lies in our interval, or at our number where there is none, widened by the
// error of reading theirs.
Verdict judge(const ReproducedRow& row);

// What a run of `smartmig compare` with these words finds.
using CompareWords = std::function<Result<Comparison>(const std::string& words)>;

// All numbers of an item. `quick`: fewer days.
Result<ReproducedItem> reproduce(const PublishedItem& item, bool quick,
                                 const CompareWords& compare);

}  // namespace smartmig
