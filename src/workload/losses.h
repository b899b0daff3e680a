// How much of a file of jobs a simulation runs, and how much it leaves out and why: rows, jobs and
// GPU-hours. Every result of a trace shows these amounts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace smartmig {

// Why a reader, a rule or the fleet left something out.
enum class LossReason : std::uint8_t {
  kJobStep,
  kCheckpointPart,
  kNoSubmitTime,
  kNotFinished,
  kNeverScheduled,
  kNoRunTime,
  kShards,
  kNoGpu,
  kNoProcessors,
  kNotSelected,
  kSeveralGpus,
  kFurtherGpus,
  kTooLong,
  // The job fits no slice of the fleet.
  kNoMemory,
  kNoSize,
};
// "asks for several GPUs"; the key in JSON.
std::string_view to_string(LossReason reason);
// The option that would keep what this reason leaves out; "" where there is none.
std::string_view option_against(LossReason reason);
// Whether a row of this reason stands for a job; a job step is a part of another row's job.
bool is_job(LossReason reason);
// Whether the source says how long such a job used which GPUs.
bool has_gpu_hours(LossReason reason);

// `gpu_hours` is what the source says: observed time x GPUs, a share of a GPU counting as that
// share. For a job table it is the time on a whole GPU.
struct Amount {
  std::size_t rows = 0;  // Of the file.
  std::size_t jobs = 0;  // Of the simulation; `--multi-gpu split` makes several of one row.
  double gpu_hours = 0;

  Amount& operator+=(const Amount& more);
};

struct Losses {
  struct Entry {
    LossReason reason;
    Amount amount;
  };
  std::vector<Entry> by_reason;  // In the order of first appearance.

  void add(LossReason reason, const Amount& amount);
  Amount of(LossReason reason) const;
  Amount total() const;
  bool empty() const { return by_reason.empty(); }
  // "3 job step, 1 no run time", by rows.
  std::string text() const;
};

// What of a file one job of a simulation stands for.
struct JobSource {
  double gpu_hours = 0;
  bool first_of_row = true;  // Of the jobs that `--multi-gpu split` made of one row.
};

// All of a file: kept + dropped + unfit.
struct JobBalance {
  Amount kept;     // What is simulated.
  Losses dropped;  // By the reader or by a rule.
  Losses unfit;    // By the fleet: no slice of it can run the job.
};

}  // namespace smartmig
