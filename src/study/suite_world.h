// What the runs of one drawn setting need: its fleet, its costs and its days.
#pragma once

#include <memory>

#include "study/run_day.h"
#include "study/suite_setting.h"

namespace smartmig {

// The costs of a setting.
Costs costs_of(const SuiteSetting& setting);

class SuiteWorld {
 public:
  // `setting` and `trace`, which a setting on a trace needs, must outlive the world.
  static Result<std::unique_ptr<SuiteWorld>> make(const SuiteSetting& setting,
                                                  const SuiteTrace* trace);
  SuiteWorld(const SuiteWorld&) = delete;
  SuiteWorld& operator=(const SuiteWorld&) = delete;

  const SuiteSetting& setting() const { return *setting_; }
  const Fleet& fleet() const { return fleet_; }
  const RunSettings& settings() const { return settings_; }
  // Day i to score on; on a trace, draw i of the window. Safe to call from several threads.
  Result<DayTable> day(std::size_t day) const;
  // The first days to learn on, which are no days to score on.
  Result<std::vector<DayTable>> training_days(std::size_t count) const;

 private:
  SuiteWorld(const SuiteSetting& setting, const SuiteTrace* trace, Fleet fleet)
      : setting_(&setting), trace_(trace), fleet_(std::move(fleet)) {
    settings_.fleet = &fleet_;
  }
  Result<DayTable> draw(std::size_t day, bool training) const;

  const SuiteSetting* setting_;
  const SuiteTrace* trace_;
  Fleet fleet_;
  RunSettings settings_;
  double jobs_per_hour_ = 0;  // Of a described workload.
};

}  // namespace smartmig
