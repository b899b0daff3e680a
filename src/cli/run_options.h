// The options that simulate, compare and search-static share: the workload, the fleet, what moves
// cost, and where the results go. Reading them checks everything a user can get wrong before
// anything runs or is written.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/cli11.h"
#include "cli/workload_options.h"
#include "report/output_folder.h"
#include "report/run_summary.h"
#include "study/compare.h"
#include "study/run_day.h"

namespace smartmig {

struct RunOptions {
  WorkloadOptions workload;
  std::string fleet = "8xA100-40GB";
  std::optional<std::string> costs;       // Default: by the workload, see below.
  std::optional<std::string> preemption;  // The same.
  double cost_scale = 1;
  double power_scale = 1;
  std::vector<std::string> speed_factors;  // BOARD=X each.
  std::string trace_board;                 // "": A100-40GB.
  double estimate_error = 0;
  double energy_weight = 2e-7;
  int threads = 0;  // 0: one for each core.
  std::string events;
  std::string tariff;
  std::string out;
  bool json = false;
};

void add_run_options(CLI::App& app, RunOptions& options);
// For commands that run independent days: --days means those, and --split-days cuts a file into
// them.
void add_day_options(CLI::App& app, RunOptions& options, bool& split_days);

// The fleet and settings of a run. `settings` points into the object, so it stays where it was
// made.
struct RunSetup {
  Fleet fleet;
  RunSettings settings;

  explicit RunSetup(Fleet of) : fleet(std::move(of)) { settings.fleet = &fleet; }
  RunSetup(const RunSetup&) = delete;
  RunSetup& operator=(const RunSetup&) = delete;
};
// `--workload paper` alone runs as the papers do, free of costs; everything else as hardware does,
// `real` and `checkpoint`.
Result<std::unique_ptr<RunSetup>> read_setup(const RunOptions& options);

// The folder of --out, checked before the run; nothing where it is not given.
Result<std::optional<OutputFolder>> open_out(const RunOptions& options);

// What is known of a file of jobs beside the jobs.
struct JobFile {
  std::optional<TraceReport> trace;  // Nothing for a job table.
  ImportCounts counts;
  JobBalance balance;
  std::optional<AsItWas> as_it_was;
};

// The jobs of one run. Those of a file that no slice of the fleet can run are left out and counted;
// an error where none is left. `file` is empty for the generator.
struct RunJobs {
  JobTable table;
  std::optional<JobFile> file;
};
Result<RunJobs> read_jobs(const WorkloadOptions& options, const Fleet& fleet);

// The independent days of a study, whose number --days or the file gives.
struct StudyDays {
  std::size_t count = 0;
  DaySource day;
  std::optional<JobFile> file;
};
Result<StudyDays> read_days(const RunOptions& options, bool split_days, const Fleet& fleet);

// Records keep a sample for every five minutes of a run: an error where its jobs span more than ten
// years, most of them without a job.
Result<void> check_recordable(const JobTable& jobs);

// What the days' file says beside the results of a comparison of them.
void set_file(Comparison& comparison, const StudyDays& days);

// "paper, rate 20, 1 day" or the file's name.
std::string describe_workload(const WorkloadOptions& options);
// "8xA100-40GB", and at what power if not its own.
std::string describe_fleet(const RunOptions& options, const Fleet& fleet);
// One sentence with the workload, the seed, the fleet, costs and preemption.
std::string describe_run(const RunOptions& options, const RunSetup& setup);
// What a reader must know under a table of results: the setting, what of a file is in it, and what
// was assumed.
std::string describe_setting(const RunOptions& options, const RunSetup& setup,
                             const std::optional<JobFile>& file);

}  // namespace smartmig
