#include "study/as_it_was.h"

#include <algorithm>

#include "sim/metrics.h"

namespace smartmig {

std::optional<AsItWas> as_it_was(std::span<const JobTable> tables) {
  AsItWas was;
  std::vector<double> waits_s;
  for (const JobTable& table : tables) {
    for (std::size_t job = 0; job < table.ran_at.size(); ++job) {
      const RanAt& ran = table.ran_at[job];
      if (ran.start_us < 0) continue;
      const double late_s = to_s(std::max<TimeUs>(0, ran.end_us - table.jobs[job].deadline_us));
      waits_s.push_back(to_s(ran.start_us - table.jobs[job].submit_us));
      was.avg_wait_s += waits_s.back();
      was.avg_tardiness_s += late_s;
      was.late_pct += late_s > 0;
    }
  }
  if (waits_s.empty()) return std::nullopt;
  const auto jobs = static_cast<double>(waits_s.size());
  was.jobs = waits_s.size();
  was.avg_wait_s /= jobs;
  was.avg_tardiness_s /= jobs;
  was.late_pct *= 100 / jobs;
  std::ranges::sort(waits_s);
  was.median_wait_s = quantile(waits_s, 0.5);
  was.p95_wait_s = quantile(waits_s, 0.95);
  return was;
}

}  // namespace smartmig
