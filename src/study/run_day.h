// One run of one policy on one day, as every study makes it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "sim/metrics.h"
#include "study/tariff.h"

namespace smartmig {

// What all runs of a study share.
struct RunSettings {
  const Fleet* fleet = nullptr;  // Must outlive the study.
  EngineOptions engine;          // Its seed is the study's.
  double energy_weight = 2e-7;   // `a` of ET, in the papers' units.
  std::optional<Tariff> tariff;
};

// The jobs of a day, shared by the runs on it.
using DayTable = std::shared_ptr<const JobTable>;
// Day i of a study; called from several threads, once for each day.
using DaySource = std::function<Result<DayTable>(std::size_t day)>;

// What is drawn in a run (errors of estimates, random placers) must differ between days, or the
// days would not be independent. Day 0 has the study's own seed, so that it is what `simulate`
// runs.
std::uint64_t day_seed(std::uint64_t seed, std::uint64_t day);

// For a caller that wants more of a run than its metrics: called when it has ended, before the
// engine goes.
using RunWatch = std::function<void(const Engine& engine)>;

// The error: the policy goes by what users asked for, and no job says it.
Result<void> check_requests(const Policy& policy, const JobTable& jobs);

// By a copy of the policy, seeded for the day: one serves all days and threads. The error is a job
// that can never run.
Result<Metrics> run_day(const RunSettings& settings, const Policy& policy, const JobTable& jobs,
                        std::uint64_t day, const RunWatch& watch = {});

}  // namespace smartmig
