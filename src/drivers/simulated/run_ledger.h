// What became of each run that was ever started, for `audit` and so that no name is used twice.
// Runs under way are all kept, of those that ended the last kKept.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/units.h"
#include "fleet/fleet.h"

namespace smartmig {

enum class RunOutcome : std::uint8_t {
  kUnderWay,
  kEnded,
  kFailed,
  kSaved,
  kKilled,
  kLost,  // Its slice vanished under it.
};
std::string_view to_string(RunOutcome outcome);  // "under-way"

struct RunRecord {
  std::uint64_t number = 0;  // Counts starts from 1.
  std::string run;
  std::string slice;  // UUID.
  GpuIndex gpu = 0;
  TimeUs start_us = 0;
  TimeUs end_us = -1;  // -1: under way.
  RunOutcome outcome = RunOutcome::kUnderWay;
};

class RunLedger {
 public:
  static constexpr std::size_t kKept = 65'536;

  bool has(const std::string& run) const { return by_name_.contains(run); }
  void started(const std::string& run, GpuIndex gpu, const std::string& slice, TimeUs at_us);
  void ended(const std::string& run, TimeUs at_us, RunOutcome outcome);
  // Those of a higher number than `after`, by number.
  std::vector<const RunRecord*> after(std::uint64_t after, std::size_t limit) const;
  std::uint64_t count() const { return count_; }  // Of all starts.

  void save(std::string& out) const;  // As JSON.
  void load(const nlohmann::json& saved);

 private:
  std::map<std::uint64_t, RunRecord> records_;
  std::unordered_map<std::string, std::uint64_t> by_name_;
  std::deque<std::uint64_t> finished_;  // Numbers, in the order of their ends.
  std::uint64_t count_ = 0;
};

// As one JSON array.
void write_run(const RunRecord& record, std::string& out);

}  // namespace smartmig
