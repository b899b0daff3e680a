// What moves cost: `free` (nothing), `paper` (4 s off deadlines), `real` (what hardware takes), or
// a JSON file (docs/formats/costs.md). Times of slice operations and power are the boards'; here is
// whether they count.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/units.h"
#include "workload/job.h"

namespace smartmig {

enum class Preemption : std::uint8_t { kFree, kCheckpoint, kOff };
Result<Preemption> parse_preemption(std::string_view text);
std::string_view to_string(Preemption preemption);

struct Costs {
  std::string name = "free";
  double operation_scale = 0;  // Times the boards' create and destroy times.
  TimeUs deadline_cut_us = 0;  // Off the deadline of jobs placed on a GPU as its layout changes.
  TimeUs start_us = 0;         // From the start of a process on a slice until it makes progress.
  bool save_restore =
      false;  // Checkpoints take time: the job's columns, or else these, by JobKind.
  std::array<std::int32_t, 2> checkpoint_ms{};
  std::array<std::int32_t, 2> restore_ms{};
  double save_restore_scale = 1;  // Times either.
  bool real_power = false;        // Two idle levels, and boards measured job by job.
  // Boards may be switched off: after this long without a job a board draws off_w until its next
  // one.
  std::optional<TimeUs> power_down_after_us;
  double off_w = 0;

  static Costs free();
  static Costs paper();
  static Costs real();
  // One of the names, or a file.
  static Result<Costs> parse(std::string_view text);
  static Result<Costs> parse_json(std::string_view json, const std::string& name);

  // The same with every time that a move takes, or takes off a deadline, times `scale`.
  Costs scaled(double scale) const;

  TimeUs checkpoint_us(const Job& job) const;
  TimeUs restore_us(const Job& job) const;
};

// Whether the job may be stopped and started again under `checkpoint`.
inline bool is_preemptible(const Job& job) {
  if (job.preemptible == Preemptible::kByKind) return job.kind == JobKind::kTraining;
  return job.preemptible == Preemptible::kYes;
}

}  // namespace smartmig
