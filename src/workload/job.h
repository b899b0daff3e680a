// Jobs and the table that holds them. A Job is what a policy may know; its name and the columns we
// do not understand are kept beside it, since the engine never looks at them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "mig/board.h"

namespace smartmig {

enum class JobKind : std::uint8_t { kInference, kTraining };
enum class Preemptible : std::uint8_t {
  kByKind,
  kNo,
  kYes
};  // kByKind: training yes, inference no.

using JobIndex = std::uint32_t;
inline constexpr std::uint16_t kNoProfile = 0xffff;
inline constexpr std::int32_t kByCostModel = -1;
inline constexpr std::int32_t kWholeGpu = 1'000'000;  // As a request, which is in millionths.

struct Job {
  TimeUs submit_us = 0;
  TimeUs deadline_us = 0;
  std::array<TimeUs, kSizeCount>
      time_us{};                // On an A100-40GB slice of kSizes[i]; 0: does not run there.
  TimeUs estimate_us = 0;       // Believed time on 7g, which policies see; 0: they see the truth.
  std::int32_t memory_mib = 0;  // 0: fits everywhere.
  std::int32_t checkpoint_ms = kByCostModel;  // To save, before it stops.
  std::int32_t restore_ms = kByCostModel;     // To load, where it starts again.
  std::int32_t request_millionths = 0;  // The share of a GPU its user asked for; 0: not known.
  std::uint16_t profile = kNoProfile;   // Index into the catalogue.
  JobKind kind = JobKind::kInference;
  Preemptible preemptible = Preemptible::kByKind;
};
// The time on the largest size the job runs on: the size that its estimate is about.
inline TimeUs time_on_largest(const Job& job) {
  for (std::size_t i = kSizeCount; i-- > 0;) {
    if (job.time_us[i] > 0) return job.time_us[i];
  }
  return 0;
}
// How many times its true time a job is believed to take.
inline double belief(const Job& job) {
  const TimeUs truth = time_on_largest(job);
  if (job.estimate_us == 0 || truth == 0) return 1;
  return static_cast<double>(job.estimate_us) / static_cast<double>(truth);
}

// Whether a slice with that many of seven compute slices is at least the share of a GPU that was
// asked for. A share such as 4/7 is not a whole number of millionths, hence the tolerance.
inline bool serves_request(int compute_slices, std::int32_t request_millionths) {
  return 7 * std::int64_t{request_millionths} <= std::int64_t{compute_slices} * 1'000'000 + 10;
}

static_assert(sizeof(Job) <= 88);

// Strings end to end, one for each row; a table of ten million jobs keeps them in two allocations.
class TextColumn {
 public:
  void push_back(std::string_view text) {
    bytes_.append(text);
    ends_.push_back(bytes_.size());
  }
  std::string_view operator[](std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::string_view(bytes_).substr(begin, ends_[i] - begin);
  }
  std::size_t size() const { return ends_.size(); }
  bool empty() const { return ends_.empty(); }

 private:
  std::string bytes_;
  std::vector<std::size_t> ends_;
};

// The submits of a trace. Every board is charged at least from the first to the last of them
// (docs/model/semantics.md, "Energy").
struct TraceWindow {
  TimeUs first_submit_us = 0;
  TimeUs last_submit_us = 0;

  TimeUs span_us() const { return last_submit_us - first_submit_us; }
};

// When a job started and ended at the site it comes from, on the clock of its submit time.
struct RanAt {
  TimeUs start_us = -1;  // -1: not known, here and below.
  TimeUs end_us = -1;
};

// Invariants: jobs are in order of submit_us (rows of equal time keep the order of the file);
// `ids`, `extra` and `ran_at` are empty or have one entry for each job.
struct JobTable {
  std::vector<Job> jobs;
  TextColumn ids;            // Empty: job i is called i.
  std::string extra_header;  // Columns we do not know, as they stood: "user,queue".
  TextColumn extra;          // Their fields, still as CSV text.
  std::vector<RanAt> ran_at;
  double nominal_days = 0;  // The papers' day: 1; a trace: last submit - first submit.
  // Of jobs read from a file; the papers' generator sets none. It may begin before the first job
  // and end after the last one where jobs that fit no slice were left out.
  std::optional<TraceWindow> trace;

  // When a run of these jobs, of which there is at least one, begins.
  TimeUs begin_us() const { return trace ? trace->first_submit_us : jobs.front().submit_us; }
  std::string id(JobIndex job) const {
    return ids.empty() ? std::to_string(job) : std::string(ids[job]);
  }
};

}  // namespace smartmig
