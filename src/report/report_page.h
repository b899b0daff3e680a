// report.html of `simulate` and `compare`: what the numbers are, what they look like, and where
// they come from (docs/formats/report.md). The same inputs make the same bytes.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "report/page.h"
#include "report/run_charts.h"
#include "report/run_summary.h"
#include "study/assumption.h"
#include "study/compare.h"
#include "workload/losses.h"

namespace smartmig {

// What a report shows of one policy beyond its numbers.
struct PolicyPictures {
  PolicyShapes shapes;
  std::vector<PageWidget> timelines;
};

// What a report says besides the result.
struct ReportContext {
  std::string workload;            // "paper, rate 20, 10 days"
  std::string fleet;               // "8xA100-40GB"
  std::vector<std::string> notes;  // The setting, one sentence each.
  std::vector<Assumption> assumptions;
  std::optional<JobBalance> balance;  // Of a file of jobs.
  PageOrigin origin;
  std::optional<LineChart> learning_curve;
};

std::string run_page(const RunSummary& summary, const PolicyPictures& pictures,
                     const ReportContext& context);
// `pictures` are in the order of the policies.
std::string comparison_page(const Comparison& comparison, double energy_weight,
                            std::span<const PolicyPictures> pictures, const ReportContext& context);

// What each of a page's timelines may hold (make_timeline): all of them together about three
// million bytes, and none so much that it is slow to unpack.
inline std::size_t timeline_room(std::size_t timelines) {
  return std::min<std::size_t>(600'000, 1'000'000 / timelines);
}

}  // namespace smartmig
