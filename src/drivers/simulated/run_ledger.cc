#include "drivers/simulated/run_ledger.h"

#include <fmt/format.h>

#include <array>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/result.h"
#include "drivers/simulated/fleet_change.h"

namespace smartmig {
namespace {

constexpr std::array<std::string_view, 6> kOutcomeNames = {"under-way", "ended",  "failed",
                                                           "saved",     "killed", "lost"};

}  // namespace

std::string_view to_string(RunOutcome outcome) {
  return kOutcomeNames[static_cast<std::size_t>(outcome)];
}

void RunLedger::started(const std::string& run, GpuIndex gpu, const std::string& slice,
                        TimeUs at_us) {
  const std::uint64_t number = ++count_;
  records_.emplace(
      number,
      RunRecord{.number = number, .run = run, .slice = slice, .gpu = gpu, .start_us = at_us});
  const bool added = by_name_.emplace(run, number).second;
  SM_CHECK(added);
}

void RunLedger::ended(const std::string& run, TimeUs at_us, RunOutcome outcome) {
  RunRecord& record = records_.at(by_name_.at(run));
  SM_CHECK(record.outcome == RunOutcome::kUnderWay);
  record.end_us = at_us;
  record.outcome = outcome;
  finished_.push_back(record.number);
  if (finished_.size() <= kKept) return;
  const auto oldest = records_.find(finished_.front());
  by_name_.erase(oldest->second.run);
  records_.erase(oldest);
  finished_.pop_front();
}

std::vector<const RunRecord*> RunLedger::after(std::uint64_t after, std::size_t limit) const {
  std::vector<const RunRecord*> found;
  for (auto at = records_.upper_bound(after); at != records_.end() && found.size() < limit; ++at)
    found.push_back(&at->second);
  return found;
}

void write_run(const RunRecord& record, std::string& out) {
  fmt::format_to(std::back_inserter(out), "[{},", record.number);
  write_json_text(record.run, out);
  fmt::format_to(std::back_inserter(out), ",\"{}\",{},{},{},\"{}\"]", record.slice, record.gpu,
                 record.start_us, record.end_us, to_string(record.outcome));
}

void RunLedger::save(std::string& out) const {
  fmt::format_to(std::back_inserter(out), "{{\"count\":{},\"runs\":[", count_);
  const char* separator = "";
  for (const auto& [number, record] : records_) {
    out += separator;
    write_run(record, out);
    separator = ",";
  }
  out += "],\"finished\":[";
  separator = "";
  for (const std::uint64_t number : finished_) {
    fmt::format_to(std::back_inserter(out), "{}{}", separator, number);
    separator = ",";
  }
  out += "]}";
}

void RunLedger::load(const nlohmann::json& saved) {
  count_ = saved.at("count").get<std::uint64_t>();
  for (const nlohmann::json& run : saved.at("runs")) {
    RunRecord record{.number = run.at(0).get<std::uint64_t>(),
                     .run = run.at(1).get<std::string>(),
                     .slice = run.at(2).get<std::string>(),
                     .gpu = run.at(3).get<GpuIndex>(),
                     .start_us = run.at(4).get<TimeUs>(),
                     .end_us = run.at(5).get<TimeUs>()};
    const auto name = run.at(6).get<std::string>();
    for (std::size_t i = 0; i < kOutcomeNames.size(); ++i)
      if (kOutcomeNames[i] == name) record.outcome = static_cast<RunOutcome>(i);
    by_name_.emplace(record.run, record.number);
    records_.emplace(record.number, std::move(record));
  }
  saved.at("finished").get_to(finished_);
}

}  // namespace smartmig
