#include "study/race.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/thread_pool.h"
#include "policy/partitioners.h"
#include "workload/generator.h"

namespace smartmig {
namespace {

constexpr std::size_t kFirstDays = 2;

}  // namespace

Race::Race(const RunSettings& settings, const LayoutMenu& menu, std::span<const DayTable> days,
           const Policy& policy, std::size_t budget, int threads, Progress* progress)
    : settings_(settings),
      menu_(menu),
      days_(days),
      policy_(policy),
      budget_(budget),
      threads_(threads),
      progress_(progress) {}

double Race::mean(const LayoutChoice& choice, std::size_t days) const {
  const auto& scores = scores_.at(choice);
  return std::accumulate(scores.begin(), scores.begin() + static_cast<std::ptrdiff_t>(days), 0.0) /
         static_cast<double>(days);
}

void Race::sort(std::vector<LayoutChoice>& choices, std::size_t days) const {
  std::sort(choices.begin(), choices.end(), [&](const LayoutChoice& a, const LayoutChoice& b) {
    const double mean_a = mean(a, days);
    const double mean_b = mean(b, days);
    return mean_a != mean_b ? mean_a < mean_b : a < b;
  });
}

void Race::extend(std::vector<LayoutChoice>& choices, std::size_t until) {
  struct Run {
    const LayoutChoice* choice;
    std::size_t day;
    double et;
    std::string error;
  };
  std::vector<Run> runs;
  std::size_t kept = 0;
  for (; kept < choices.size(); ++kept) {
    const auto [at, added] = scores_.try_emplace(choices[kept]);
    const std::size_t seen = at->second.size();
    if (seen < until && simulated_ + runs.size() + (until - seen) > budget_) {
      out_of_budget_ = true;
      if (added) scores_.erase(at);
      break;
    }
    for (std::size_t day = seen; day < until; ++day) runs.push_back({&at->first, day, 0, {}});
  }
  choices.resize(kept);
  parallel_for(runs.size(), threads_, [&](std::size_t i) {
    Run& run = runs[i];
    Policy policy = policy_;
    const std::string layouts = menu_.name(*run.choice);
    policy.name = fmt::format("static:{}/{}", layouts, policy_.name);
    policy.partitioner = make_static(parse_layout_list(layouts, *settings_.fleet).value());
    const auto metrics = run_day(settings_, policy, *days_[run.day], kTrainingDays + run.day);
    run.et = metrics ? metrics->et : std::numeric_limits<double>::infinity();
    if (!metrics) run.error = metrics.error().message;
    if (progress_) progress_->step();
  });
  simulated_ += runs.size();
  for (const Run& run : runs) {
    scores_[*run.choice].push_back(run.et);
    if (why_infinite_.empty()) why_infinite_ = run.error;
  }
}

std::vector<Scored> Race::run(std::vector<LayoutChoice> choices, std::size_t keep) {
  std::sort(choices.begin(), choices.end());
  choices.erase(std::unique(choices.begin(), choices.end()), choices.end());
  for (std::size_t days = std::min(kFirstDays, days_.size());;
       days = std::min(2 * days, days_.size())) {
    extend(choices, days);
    sort(choices, days);
    if (days == days_.size()) break;
    choices.resize(std::min(choices.size(), std::max(keep, (choices.size() + 1) / 2)));
  }
  std::vector<Scored> ranked;
  for (const LayoutChoice& choice : choices) ranked.push_back({choice, mean(choice, days_.size())});
  return ranked;
}

std::vector<Scored> Race::finished() const {
  std::vector<LayoutChoice> choices;
  for (const auto& [choice, scores] : scores_) {
    if (scores.size() == days_.size()) choices.push_back(choice);
  }
  sort(choices, days_.size());
  std::vector<Scored> ranked;
  for (const LayoutChoice& choice : choices) ranked.push_back({choice, mean(choice, days_.size())});
  return ranked;
}

}  // namespace smartmig
