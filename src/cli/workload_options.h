// The options that say which jobs to run, shared by every command that needs some: a file (--jobs),
// or a generator (--workload: the papers', or a workload that a file describes), and the rules that
// fill in what a trace lacks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/cli11.h"
#include "fleet/fleet.h"
#include "workload/described.h"
#include "workload/import.h"
#include "workload/job.h"

namespace smartmig {

// Nothing where the user did not say: then the default below holds, and an option that has no
// meaning for the chosen source can be told from one that was left alone.
struct WorkloadOptions {
  std::string jobs;                      // A file; "": the generator.
  std::optional<std::string> workload;   // paper | paper-fixed | a file; default paper.
  int days = 1;                          // On end; paper only.
  std::optional<double> rate;            // Default 20 for paper, 8 for paper-fixed.
  std::optional<int> count;              // paper-fixed only; default 50.
  std::optional<std::string> speeds;     // paper | linear; default paper.
  std::optional<std::string> curve;      // Of data/curves.json; default the papers'.
  std::optional<std::string> job_times;  // How long jobs are; default paper.

  std::uint64_t seed = 1;                // Of the generator and of the rules.
  std::optional<std::string> deadlines;  // Default 1:1.5; a trace's: 2:6.
  std::optional<double> training_share;  // Default .2.

  // For --jobs with a trace.
  std::optional<std::string> format;
  std::optional<std::string> assign_profiles;
  bool right_size = false;
  std::optional<std::string> memory;
  std::optional<std::string> multi_gpu;
  std::optional<double> swf_procs_per_gpu;
  // For --jobs with any file.
  std::vector<std::string> where;
  std::optional<std::string> estimates;  // trace | exact; default trace.

  // `--workload paper`, said or by default: the one whose runs are free of costs unless asked
  // otherwise.
  bool is_paper_generator() const { return jobs.empty() && workload.value_or("paper") == "paper"; }
  // `--workload FILE.json`
  bool is_described() const;
};

void add_workload_options(CLI::App& app,
                          WorkloadOptions& options);  // All of the below, and --jobs.
void add_generator_options(CLI::App& app, WorkloadOptions& options);
void add_fill_options(CLI::App& app, WorkloadOptions& options);
void add_drawn_options(CLI::App& app,
                       WorkloadOptions& options);  // --seed, --deadlines, --training-share

// The rule of --deadlines where it is not given.
std::string_view default_deadlines(const WorkloadOptions& options);

// The workload of --workload FILE.json, and how fast its jobs arrive on this fleet.
struct DescribedJobs {
  DescribedWorkload workload;
  DayDraw draw;  // Of day 0.

  JobTable day(std::uint64_t day) const;
};
Result<DescribedJobs> read_described(const WorkloadOptions& options, const Fleet& fleet);

// The jobs. `day` numbers the stream of a generator; a file of jobs has only one day. Every error
// names its option or file.
Result<JobTable> make_jobs(const WorkloadOptions& options, const Fleet& fleet, std::uint64_t day);
// The same where no file describes the workload.
Result<JobTable> make_jobs(const WorkloadOptions& options, std::uint64_t day);
// The same for --jobs, with what is known about the file.
Result<Imported> import_jobs(const WorkloadOptions& options);

}  // namespace smartmig
