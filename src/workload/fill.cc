#include "workload/fill.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "base/random.h"
#include "base/text.h"
#include "workload/catalogue.h"
#include "workload/job_table.h"
#include "workload/profile_pool.h"

namespace smartmig {
namespace {

template <class Enum>
Result<Enum> parse_word(std::string_view word, std::initializer_list<std::string> words) {
  const auto at = std::ranges::find(words, word);
  if (at != words.end()) return static_cast<Enum>(at - words.begin());
  return fail("found {}, expected one of {}", in_quotes(word),
              join(std::span(words.begin(), words.size()), ", "));
}

// One stream for each rule.
struct Streams {
  explicit Streams(std::uint64_t seed)
      : kind(seed, "fill-kind"), profile(seed, "fill-profile"), deadline(seed, "fill-deadline") {}
  Random kind;
  Random profile;
  Random deadline;
};

// Scales the profile's speeds so that the observed time is the one on the size the job had. Where
// the profile does not run on that size, the observed time counts for the next larger one on which
// it does; every profile of the catalogue runs on 7g. The size that was used.
int scale_times(const std::array<double, kSizeCount>& speed, TimeUs duration_us, int seen_on,
                Job& job) {
  auto at = static_cast<std::size_t>(seen_on);
  while (speed[at] == 0) {
    ++at;
    SM_CHECK(at < speed.size());
  }
  for (std::size_t i = 0; i < speed.size(); ++i) {
    if (speed[i] == 0) continue;
    const double time_us = static_cast<double>(duration_us) * speed[at] / speed[i];
    // Bounded before the rounding, which must not overflow; is_in_range() then drops the job.
    job.time_us[i] = std::max<TimeUs>(1, std::llround(std::min(time_us, 4e6 * kMaxSeconds)));
  }
  return static_cast<int>(at);
}

// Could the job stand in a job table, with any deadline the rule can draw?
bool is_in_range(const Job& job, const DeadlineRule& rule) {
  constexpr double kMost = kMaxSeconds * 1e6;
  const auto longest = static_cast<double>(*std::ranges::max_element(job.time_us));
  return longest <= kMost && static_cast<double>(job.submit_us) + rule.high * longest <= kMost;
}

class Filler {
 public:
  Filler(const Trace& trace, const FillOptions& options, ProfilePool pool)
      : options_(options), pool_(std::move(pool)), streams_(options.seed) {
    filled_.report = trace.report;
    if (options.multi_gpu != MultiGpu::kSplit) return;
    for (const TraceJob& job : trace.jobs) ids_.insert(job.id);
  }

  void add(const TraceJob& raw) {
    if (raw.gpu_count == 1 || options_.multi_gpu == MultiGpu::kOne) {
      add_one(raw, std::min(1.0, raw.gpu_fraction * raw.gpu_count), raw.id);
      merged_ += raw.gpu_count > 1;
    } else if (options_.multi_gpu == MultiGpu::kDrop) {
      filled_.report.drop(kSeveralGpus);
    } else {
      for (int i = 0; i < raw.gpu_count; ++i) {
        add_one(raw, raw.gpu_fraction, part_id(raw.id, i));
      }
      ++split_;
    }
  }

  Result<FilledTrace> finish(const std::string& name) {
    if (filled_.table.jobs.empty()) {
      return fail("{}: has no job left among {} rows; dropped: {}", name, filled_.report.rows_read,
                  filled_.report.dropped_text());
    }
    finish_job_table(filled_.table);
    TraceReport& report = filled_.report;
    report.rows_kept = rows_kept_;
    tell();
    return std::move(filled_);
  }

 private:
  void add_one(const TraceJob& raw, double fraction, std::string_view id) {
    Job job;
    job.submit_us = raw.submit_us;
    const bool draws_training = streams_.kind.uniform() < options_.training_share;
    const bool known = raw.kind != TraceKind::kUnknown;
    const bool training = known ? raw.kind == TraceKind::kTraining : draws_training;
    job.kind = training ? JobKind::kTraining : JobKind::kInference;

    const int seen_on = size_of_request(fraction);
    job.profile = pool_.draw(job.kind, seen_on, streams_.profile);
    const int scaled_on =
        scale_times(ProfilePool::speed(job.profile), raw.duration_us, seen_on, job);
    if (options_.right_size && fraction < 1) {
      std::fill_n(job.time_us.begin(), seen_on, 0);
    }
    if (options_.memory == MemoryRule::kTrace) job.memory_mib = raw.memory_mib;
    if (options_.memory == MemoryRule::kProfile && job.profile != kNoProfile) {
      job.memory_mib = Catalogue::shipped().profiles()[job.profile].memory_mib;
    }
    if (!is_in_range(job, options_.deadlines)) {
      streams_.deadline.uniform();
      filled_.report.drop("a time over 1e10 s");
      return;
    }
    job.deadline_us = draw_deadline(options_.deadlines, job, streams_.deadline);
    unknown_kinds_ += !known;
    moved_ += scaled_on != seen_on;
    with_memory_ += job.memory_mib > 0;
    filled_.table.jobs.push_back(job);
    filled_.table.ids.push_back(id);
    if (last_row_ != &raw) ++rows_kept_;
    last_row_ = &raw;
  }

  // "7/0", "7/1", ...: a name no other job has.
  std::string part_id(const std::string& id, int part) {
    std::string name = fmt::format("{}/{}", id, part);
    while (!ids_.insert(name).second) name += '+';
    return name;
  }

  void tell() {
    TraceReport& report = filled_.report;
    auto& made = report.synthesised;
    made.push_back(fmt::format("all draws: seed {}", options_.seed));
    const auto& rule = options_.deadlines;
    made.push_back(
        fmt::format("deadlines: submit + U({}, {}) x time on {}g", rule.low, rule.high, rule.size));
    made.push_back(
        pool_.is_linear()
            ? "speeds: linear in the compute slices, through the observed time"
            : fmt::format("speeds: drawn from {} ({} profiles), through the observed time",
                          options_.profiles, pool_.size()));
    if (unknown_kinds_) {
      made.push_back(fmt::format("kind of {} jobs: training with probability {}", unknown_kinds_,
                                 options_.training_share));
    }
    if (options_.memory == MemoryRule::kProfile) {
      made.push_back(fmt::format("memory of {} jobs: their profile's", with_memory_));
    }
    if (options_.right_size) {
      made.push_back("right-size: jobs that asked for a fraction do not run on less than it");
    }
    if (merged_) made.push_back(fmt::format("{} jobs on several GPUs run on one", merged_));
    if (split_) {
      made.push_back(fmt::format("{} jobs on several GPUs run as one job for each GPU", split_));
    }
    if (moved_) {
      report.notes.push_back(
          fmt::format("{} jobs drew a profile that does not run on the slice they had: the "
                      "observed time counts "
                      "for the next larger one",
                      moved_));
    }
  }

  const FillOptions& options_;
  ProfilePool pool_;
  Streams streams_;
  FilledTrace filled_;
  std::unordered_set<std::string> ids_;  // Only where jobs are split.
  const TraceJob* last_row_ = nullptr;
  std::size_t rows_kept_ = 0;
  std::size_t unknown_kinds_ = 0, moved_ = 0, with_memory_ = 0, merged_ = 0, split_ = 0;
};

}  // namespace

Result<MultiGpu> parse_multi_gpu(std::string_view word) {
  return parse_word<MultiGpu>(word, {"drop", "one", "split"});
}

Result<MemoryRule> parse_memory_rule(std::string_view word) {
  return parse_word<MemoryRule>(word, {"trace", "none", "profile"});
}

int size_of_request(double gpu_fraction) {
  for (int i = 0; i < kSizeCount; ++i) {
    // 3/7 of a GPU, as a decimal or a double, is still three slices.
    if (gpu_fraction * 7 <= kSizes[i] + 1e-9) return i;
  }
  return kSizeCount - 1;
}

Result<FilledTrace> fill(const Trace& trace, const FillOptions& options, const std::string& name) {
  auto pool = ProfilePool::parse(options.profiles);
  if (!pool) return pass_on(pool);
  Filler filler(trace, options, std::move(*pool));
  for (const TraceJob& job : trace.jobs) filler.add(job);
  return filler.finish(name);
}

}  // namespace smartmig
