// report.html of `simulate` and `compare`: what the numbers are, what they look like, and where
// they come from (docs/formats/report.md). The same inputs make the same bytes.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "report/page.h"
#include "report/run_charts.h"
#include "report/run_summary.h"
#include "study/compare.h"

namespace smartmig {

// What a report shows of one policy beyond its numbers.
struct PolicyPictures {
  PolicyShapes shapes;
  PageWidget timeline;
};

// What a report says besides the result.
struct ReportContext {
  std::string workload;            // "paper, rate 20, 10 days"
  std::string fleet;               // "8xA100-40GB"
  std::vector<std::string> notes;  // The setting and what of it was made up, one sentence each.
  PageOrigin origin;
  std::optional<LineChart> learning_curve;
};

std::string run_page(const RunSummary& summary, const PolicyPictures& pictures,
                     const ReportContext& context);
// `pictures` are in the order of the policies.
std::string comparison_page(const Comparison& comparison, double energy_weight,
                            std::span<const PolicyPictures> pictures, const ReportContext& context);

// Timeline pieces that a page has room for, over all policies: a page of two million bytes.
inline constexpr std::size_t kPagePieces = 250'000;

}  // namespace smartmig
