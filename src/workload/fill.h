// What a trace lacks and a simulation needs, added by named rules the user chooses: deadlines,
// kind, speeds on slices, memory, and what becomes of jobs on several GPUs. Every draw comes from a
// stream of (seed, rule), one draw of each for each job, so that changing one rule leaves the draws
// of the others as they were.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "workload/generator.h"
#include "workload/job.h"
#include "workload/trace.h"

namespace smartmig {

// A job uses one slice and slices have no peer-to-peer, so a job on several GPUs is left out, run
// on one whole GPU for as long as it ran, or run as that many jobs of one GPU each.
enum class MultiGpu : std::uint8_t { kDrop, kOne, kSplit };
Result<MultiGpu> parse_multi_gpu(std::string_view word);

// What the trace says (0 where it is silent), nothing (0), or what the job's profile says.
enum class MemoryRule : std::uint8_t { kTrace, kIgnore, kProfile };
Result<MemoryRule> parse_memory_rule(std::string_view word);

// Deadlines of traces that have none. The papers' 1:1.5 leaves no time to wait in a queue.
inline constexpr std::string_view kTraceDeadlines = "2:6";

// `split` can make very many jobs of a small file; the other rules make at most one of each row.
inline constexpr std::size_t kMaxSplitJobs = 4'000'000;

struct FillOptions {
  std::uint64_t seed = 1;
  DeadlineRule deadlines = {2, 6, 7};
  bool own_deadlines = true;       // A job that has a deadline keeps it, whatever the rule.
  bool own_estimates = true;       // Policies see what the source believed of a job's time.
  double training_share = 0.2;     // Of the jobs whose kind the trace does not say.
  std::string profiles = "paper";  // What ProfilePool::parse() takes.
  bool right_size = false;         // A job that asked for a fraction does not run on less than it.
  MemoryRule memory = MemoryRule::kTrace;
  MultiGpu multi_gpu = MultiGpu::kDrop;
  std::size_t max_split_jobs = kMaxSplitJobs;
};

// The index in kSizes of the smallest slice with at least that fraction of a GPU's 7 compute
// slices.
int size_of_request(double gpu_fraction);

// For how many jobs the file itself gives a value that a rule, or the true time, would replace.
struct ImportCounts {
  std::size_t jobs = 0;
  std::size_t deadlines = 0;
  std::size_t estimates = 0;
  std::size_t kinds = 0;
};

struct FilledTrace {
  JobTable table;
  std::vector<JobSource> sources;  // One for each job.
  ImportCounts counts;
  TraceReport report;  // The trace's, with what was dropped and synthesised here.
};

// Errors: an unknown profile or set, no job left, more than max_split_jobs jobs by splitting.
// `name` stands for the trace in error lines.
Result<FilledTrace> fill(const Trace& trace, const FillOptions& options, const std::string& name);

}  // namespace smartmig
