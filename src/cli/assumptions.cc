#include "cli/assumptions.h"

#include "base/text.h"
#include "fleet/speeds.h"
#include "workload/generator.h"
#include "workload/profile_pool.h"

namespace smartmig {
namespace {

// "all 40 jobs", "30 of 40 jobs"
std::string share_text(std::size_t part, std::size_t whole) {
  return part == whole ? fmt::format("all {} jobs", whole)
                       : fmt::format("{} of {} jobs", part, whole);
}

Assumption deadlines(const WorkloadOptions& options, const std::optional<JobFile>& file) {
  constexpr const char* kOption = "--deadlines";
  if (file && !file->trace) return {"deadlines", "the column deadline_s of the job table", ""};
  const std::string given = options.deadlines.value_or(std::string(default_deadlines(options)));
  const auto rule = parse_deadline_rule(given);
  SM_CHECK(rule.has_value());
  const std::string drawn =
      fmt::format("submit + U({}, {}) x the time on {}g{}", rule->low, rule->high, rule->size,
                  options.deadlines ? "" : ", the default");
  if (!file || file->counts.deadlines == 0) return {"deadlines", drawn, kOption};
  if (file->counts.deadlines == file->counts.jobs) return {"deadlines", "the trace's own", kOption};
  return {"deadlines",
          fmt::format("the trace's own for {}; for the others {}",
                      share_text(file->counts.deadlines, file->counts.jobs), drawn),
          kOption};
}

Assumption speeds(const WorkloadOptions& options, const RunSetup& setup,
                  const std::optional<JobFile>& file) {
  if (file && !file->trace) {
    return {"speeds",
            fmt::format("the times of the job table, on slices of {}", setup.fleet.times_board()),
            "--trace-board"};
  }
  if (file) {
    const std::string set = options.assign_profiles.value_or("paper");
    const auto pool = ProfilePool::parse(set);
    SM_CHECK(pool.has_value());
    return {"speeds",
            pool->made_up().empty()
                ? fmt::format("profiles drawn from '{}', through each job's observed time on the "
                              "size it had",
                              set)
                : pool->made_up() + ", through each job's observed time",
            "--assign-profiles"};
  }
  const bool linear = options.speeds.value_or("paper") == "linear";
  return {"speeds", linear ? "linear in the compute slices" : "the papers' four profiles",
          "--speeds"};
}

Assumption kinds(const WorkloadOptions& options, const std::optional<JobFile>& file) {
  const double share = options.training_share.value_or(.2);
  const std::string drawn = fmt::format("training with probability {:g}", share);
  if (!file) return {"kinds", drawn, "--training-share"};
  if (!file->trace) return {"kinds", "the column kind of the job table", ""};
  const ImportCounts& counts = file->counts;
  if (counts.kinds == counts.jobs) return {"kinds", "the trace's own", ""};
  return {"kinds",
          fmt::format("{} for {}{}", drawn, share_text(counts.jobs - counts.kinds, counts.jobs),
                      counts.kinds ? "; the others' is the trace's" : ""),
          "--training-share"};
}

Assumption estimates(const RunOptions& options, const std::optional<JobFile>& file) {
  std::string text = "policies know the true run times";
  std::string option = "--estimate-error";
  if (file && file->counts.estimates > 0) {
    text = fmt::format("policies believe the file's estimates of {}",
                       share_text(file->counts.estimates, file->counts.jobs));
    option = "--estimates exact, --estimate-error";
  }
  if (options.estimate_error > 0) {
    text += fmt::format(", off by a lognormal factor with sigma {:g}", options.estimate_error);
  }
  return {"estimates", text, option};
}

Assumption memory(const WorkloadOptions& options, const std::optional<JobFile>& file) {
  if (!file) return {"memory", "every job fits every slice", ""};
  if (!file->trace) return {"memory", "the column memory_mib, else a job fits every slice", ""};
  const auto rule = parse_memory_rule(options.memory.value_or("trace"));
  SM_CHECK(rule.has_value());
  switch (*rule) {
    case MemoryRule::kTrace:
      return {"memory", "what the trace says; a job of which it says nothing fits every slice",
              "--memory"};
    case MemoryRule::kProfile:
      return {"memory", "that of the job's speed profile", "--memory"};
    case MemoryRule::kIgnore:
      break;
  }
  return {"memory", "every job fits every slice", "--memory"};
}

Assumption several_gpus(const WorkloadOptions& options) {
  constexpr const char* kWhat = "jobs on several GPUs";
  const auto rule = parse_multi_gpu(options.multi_gpu.value_or("drop"));
  SM_CHECK(rule.has_value());
  switch (*rule) {
    case MultiGpu::kOne:
      return {kWhat, "run on one GPU for as long as they ran on several", "--multi-gpu"};
    case MultiGpu::kSplit:
      return {kWhat, "run as one job for each GPU", "--multi-gpu"};
    case MultiGpu::kDrop:
      break;
  }
  return {kWhat, "left out", "--multi-gpu"};
}

Assumption boards(const RunOptions& options, const RunSetup& setup) {
  std::string text = describe_fleet(options, setup.fleet);
  const std::vector<std::string> assumed = board_assumptions(setup.fleet);
  if (!assumed.empty()) text += "; assumed and not measured: " + join(assumed, "; ");
  return {"boards", text, "--fleet"};
}

// Where a board does not run jobs at the times of the table.
std::optional<Assumption> board_speeds(const RunSetup& setup) {
  const std::vector<std::string> lines = speed_assumptions(setup.fleet);
  if (lines.empty()) return std::nullopt;
  return Assumption{"speeds of boards", join(lines, "; "), "--speed-factor, --trace-board"};
}

Assumption costs_of_moves(const RunSetup& setup) {
  const Costs& costs = setup.settings.engine.costs;
  std::vector<std::string> slow;
  if (costs.operation_scale > 0) slow.emplace_back("slices");
  if (costs.save_restore && costs.save_restore_scale > 0) slow.emplace_back("checkpoints");
  std::string meaning = slow.empty() ? "slices change and jobs move in no time"
                                     : join(slow, " and ") + " take the times of hardware";
  if (costs.deadline_cut_us > 0) {
    meaning += fmt::format(
        ", but {:g} s are taken off the deadline of a job that is placed as "
        "its GPU's layout changes",
        to_s(costs.deadline_cut_us));
  }
  return {"costs of moves", fmt::format("{}: {}", costs.name, meaning), "--costs, --cost-scale"};
}

Assumption preemption(const RunSetup& setup) {
  switch (setup.settings.engine.preemption) {
    case Preemption::kFree:
      return {"preemption", "free: every job can stop and move at any time", "--preemption"};
    case Preemption::kCheckpoint:
      return {"preemption",
              "checkpoint: training jobs save and restore, inference jobs never stop, unless the "
              "column preemptible says otherwise",
              "--preemption"};
    case Preemption::kOff:
      break;
  }
  return {"preemption", "none: a job runs to its end where it started", "--preemption"};
}

// What a workload file says of its jobs, each thing under its field there. The file was read
// before.
std::vector<Assumption> described_jobs(const WorkloadOptions& options) {
  const auto workload = read_workload_file(*options.workload);
  if (!workload) return {};
  const std::string in = fmt::format(" in {}", *options.workload);
  const DeadlineRule& rule = workload->deadlines;
  return {{"deadlines",
           fmt::format("submit + U({}, {}) x the time on {}g", rule.low, rule.high, rule.size),
           "deadlines" + in},
          {"speeds", workload->speeds, "speeds" + in},
          {"kinds", fmt::format("training with probability {:g}", workload->training_share),
           "training_share" + in}};
}

}  // namespace

std::vector<Assumption> list_assumptions(const RunOptions& options, const RunSetup& setup,
                                         const std::optional<JobFile>& file) {
  const WorkloadOptions& workload = options.workload;
  std::vector<Assumption> list = {deadlines(workload, file), speeds(workload, setup, file),
                                  kinds(workload, file)};
  if (workload.is_described()) list = described_jobs(workload);
  list.push_back(estimates(options, file));
  list.push_back(memory(workload, file));
  if (file && file->trace) list.push_back(several_gpus(workload));
  list.push_back(boards(options, setup));
  if (auto speeds_of_boards = board_speeds(setup)) list.push_back(std::move(*speeds_of_boards));
  list.push_back(costs_of_moves(setup));
  list.push_back(preemption(setup));
  return list;
}

std::string assumptions_text(const std::vector<Assumption>& assumptions) {
  std::string text = "Assumed:\n";
  for (const Assumption& assumption : assumptions) {
    text += fmt::format("  {}: {}{}\n", assumption.what, assumption.text,
                        assumption.option.empty() ? "" : fmt::format(" ({})", assumption.option));
  }
  return text;
}

}  // namespace smartmig
