// Scores fixed layouts on training days, each at most once, and races groups of them: all run on a
// few days, the better half continues with more, and only the last ones run on every day. Tardiness
// differs far more between days than between neighbouring layouts, so candidates are only ever
// compared on the same days.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/progress.h"
#include "study/layout_menu.h"
#include "study/run_day.h"

namespace smartmig {

struct Scored {
  LayoutChoice choice;
  double et = 0;  // Mean over all training days; infinite where a job can never run.
};

class Race {
 public:
  // Simulates at most `budget` days in all, with the policy's placer, whose name it has. The
  // references must outlive the race.
  Race(const RunSettings& settings, const LayoutMenu& menu, std::span<const DayTable> days,
       const Policy& policy, std::size_t budget, int threads, Progress* progress);

  // Those that ran on every day, best first; ties go to the lesser choice. At least `keep` of them,
  // budget allowing.
  std::vector<Scored> run(std::vector<LayoutChoice> choices, std::size_t keep);

  // All that ever ran on every day, best first.
  std::vector<Scored> finished() const;
  std::size_t simulated() const { return simulated_; }
  std::size_t candidates() const { return scores_.size(); }
  bool out_of_budget() const { return out_of_budget_; }
  // Why the first candidate that cannot run all jobs cannot, for when none can.
  const std::string& why_infinite() const { return why_infinite_; }

 private:
  // Runs the choices on the days before `until` that they have not seen; drops those the budget has
  // no room for.
  void extend(std::vector<LayoutChoice>& choices, std::size_t until);
  void sort(std::vector<LayoutChoice>& choices, std::size_t days) const;
  double mean(const LayoutChoice& choice, std::size_t days) const;

  const RunSettings& settings_;
  const LayoutMenu& menu_;
  std::span<const DayTable> days_;
  const Policy& policy_;
  std::size_t budget_;
  int threads_;
  Progress* progress_;
  std::map<LayoutChoice, std::vector<double>> scores_;  // ET of the first days.
  std::size_t simulated_ = 0;
  bool out_of_budget_ = false;
  std::string why_infinite_;
};

}  // namespace smartmig
