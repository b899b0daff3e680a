// Gathers what the report of a comparison shows beyond its numbers. It watches the runs, which must
// have records on, and then runs each policy's median day once more for its timeline: stays of all
// days at once would not fit in memory.
//
//   ComparisonPictures pictures(policies, days);
//   auto comparison = compare(settings, policies, days, source, threads, &progress,
//   pictures.watch()); auto drawn = std::move(pictures).finish(settings, *comparison, source,
//   threads);
#pragma once

#include <span>
#include <string>
#include <vector>

#include "report/report_page.h"
#include "study/compare.h"

namespace smartmig {

class ComparisonPictures {
 public:
  ComparisonPictures(std::span<const Policy> policies, std::size_t days);

  // The object must outlive the comparison.
  CompareWatch watch();
  // In the order of the policies; the same on any number of threads.
  Result<std::vector<PolicyPictures>> finish(const RunSettings& settings,
                                             const Comparison& comparison, const DaySource& source,
                                             int threads) &&;

 private:
  std::vector<Policy> policies_;
  std::size_t days_;
  std::vector<RunShapes> shapes_;  // By day, then policy: each run writes its own.
};

}  // namespace smartmig
