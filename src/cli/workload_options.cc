#include "cli/workload_options.h"

#include <CLI/CLI.hpp>
#include <numeric>

#include "base/text.h"
#include "cli/help.h"
#include "study/load.h"
#include "workload/catalogue.h"
#include "workload/generator.h"
#include "workload/profile_pool.h"

namespace smartmig {
namespace {

constexpr double kPaperRate = 20;  // 8 GPUs; DESIGN's defaults, as the two below.
constexpr double kFixedRate = 8;   // Jobs a minute.
constexpr int kFixedCount = 50;

// An error of another layer, with the option before it.
template <class T>
tl::unexpected<Error> about(std::string_view option, const Result<T>& failed) {
  return fail("{}: {}", option, failed.error().message);
}

// The first option of a list that the user gave.
struct Given {
  std::string_view option;
  bool given;
};
std::string_view first_given(std::initializer_list<Given> options) {
  for (const Given& option : options) {
    if (option.given) return option.option;
  }
  return {};
}

Result<DeadlineRule> deadline_rule(const WorkloadOptions& options) {
  const std::string text = options.deadlines.value_or(std::string(default_deadlines(options)));
  const auto rule = parse_deadline_rule(text);
  // The message starts with "deadlines: ".
  if (!rule) return fail("--{}", rule.error().message);
  return rule;
}

Result<double> training_share(const WorkloadOptions& options) {
  const double share = options.training_share.value_or(.2);
  if (share >= 0 && share <= 1) return share;
  return fail("--training-share: found {}, expected a number from 0 to 1", share);
}

std::string_view trace_option_given(const WorkloadOptions& options) {
  return first_given({{"--format", options.format.has_value()},
                      {"--assign-profiles", options.assign_profiles.has_value()},
                      {"--right-size", options.right_size},
                      {"--memory", options.memory.has_value()},
                      {"--multi-gpu", options.multi_gpu.has_value()},
                      {"--swf-procs-per-gpu", options.swf_procs_per_gpu.has_value()},
                      {"--where", !options.where.empty()},
                      {"--estimates", options.estimates.has_value()}});
}

Result<GeneratorOptions> generator_options(const WorkloadOptions& options, std::uint64_t day) {
  GeneratorOptions generator;
  const std::string workload = options.workload.value_or("paper");
  generator.fixed_rate = workload == "paper-fixed";
  if (!generator.fixed_rate && workload != "paper") {
    const std::string known[] = {"paper", "paper-fixed"};
    return fail("--workload: found {}, expected paper, paper-fixed or a file{}",
                in_quotes(workload),
                nearest(workload, known).empty() ? "" : suggestion(workload, known));
  }
  const auto misplaced = trace_option_given(options);
  if (!misplaced.empty()) return fail("{}: is for traces, expected --jobs beside it", misplaced);
  if (options.count && !generator.fixed_rate) {
    return fail("--count: is for --workload paper-fixed; --days says how long paper is");
  }
  generator.rate = options.rate.value_or(generator.fixed_rate ? kFixedRate : kPaperRate);
  generator.days = options.days;
  generator.count = options.count.value_or(kFixedCount);
  generator.seed = options.seed;
  generator.day = day;
  if (!(generator.rate > 0)) {
    return fail("--rate: found {}, expected a number above 0", generator.rate);
  }
  if (generator.days < 1) return fail("--days: found {}, expected 1 or more", generator.days);
  if (generator.count < 1) return fail("--count: found {}, expected 1 or more", generator.count);

  const std::string speeds = options.speeds.value_or("paper");
  generator.linear_speeds = speeds == "linear";
  if (!generator.linear_speeds && speeds != "paper") {
    return fail("--speeds: found {}, expected paper or linear", in_quotes(speeds));
  }
  if (options.curve) {
    if (generator.fixed_rate) return fail("--curve: is for --workload paper");
    const auto curve = find_curve(*options.curve);
    if (!curve) return about("--curve", curve);
    // The papers' mean rate, so that --rate means the same load on every curve.
    auto& rates = generator.rate_per_minute;
    const double mean = std::accumulate(rates.begin(), rates.end(), 0.0) / 24;
    for (std::size_t hour = 0; hour < rates.size(); ++hour) {
      rates[hour] = mean * (*curve)->by_hour[hour];
    }
  }
  const auto times = parse_job_times(options.job_times.value_or("paper"));
  if (!times) return about("--job-times", times);
  generator.times = *times;
  const auto rule = deadline_rule(options);
  if (!rule) return pass_on(rule);
  generator.deadlines = *rule;
  const auto share = training_share(options);
  if (!share) return pass_on(share);
  generator.training_share = *share;
  // What is left are limits of size; their messages start with the name of an option.
  if (const auto checked = check_options(generator); !checked)
    return fail("--{}", checked.error().message);
  return generator;
}

Result<ImportOptions> import_options(const WorkloadOptions& options) {
  ImportOptions import;
  if (options.format) {
    const auto format = parse_trace_format(*options.format);
    if (!format) return about("--format", format);
    import.format = *format;
  }
  if (options.swf_procs_per_gpu) {
    const double processors = *options.swf_procs_per_gpu;
    if (!(processors > 0 && processors <= 1e6)) {
      return fail("--swf-procs-per-gpu: found {}, expected a number above 0, at most 1e6",
                  processors);
    }
    import.swf_procs_per_gpu = processors;
  }
  for (const std::string& text : options.where) {
    auto selector = parse_selector(text);
    if (!selector) return pass_on(selector);
    import.where.push_back(std::move(*selector));
  }
  FillOptions& fill = import.fill;
  const std::string estimates = options.estimates.value_or("trace");
  if (estimates != "trace" && estimates != "exact")
    return fail("--estimates: found {}, expected trace or exact", in_quotes(estimates));
  fill.own_estimates = estimates == "trace";
  fill.own_deadlines = !options.deadlines.has_value();
  fill.seed = options.seed;
  const auto rule = deadline_rule(options);
  if (!rule) return pass_on(rule);
  fill.deadlines = *rule;
  const auto share = training_share(options);
  if (!share) return pass_on(share);
  fill.training_share = *share;
  fill.profiles = options.assign_profiles.value_or("paper");
  if (const auto pool = ProfilePool::parse(fill.profiles); !pool)
    return about("--assign-profiles", pool);
  fill.right_size = options.right_size;
  const auto memory = parse_memory_rule(options.memory.value_or("trace"));
  if (!memory) return about("--memory", memory);
  fill.memory = *memory;
  const auto multi_gpu = parse_multi_gpu(options.multi_gpu.value_or("drop"));
  if (!multi_gpu) return about("--multi-gpu", multi_gpu);
  fill.multi_gpu = *multi_gpu;
  return import;
}

// A rule has nothing to fill in a job table; to ignore it would mislead.
std::string_view rule_given(const WorkloadOptions& options) {
  return first_given({{"--deadlines", options.deadlines.has_value()},
                      {"--training-share", options.training_share.has_value()},
                      {"--assign-profiles", options.assign_profiles.has_value()},
                      {"--right-size", options.right_size},
                      {"--memory", options.memory.has_value()},
                      {"--multi-gpu", options.multi_gpu.has_value()},
                      {"--swf-procs-per-gpu", options.swf_procs_per_gpu.has_value()}});
}

}  // namespace

std::string_view default_deadlines(const WorkloadOptions& options) {
  return options.jobs.empty() ? "1:1.5" : kTraceDeadlines;
}

void add_drawn_options(CLI::App& app, WorkloadOptions& options) {
  app.add_option("--seed", options.seed, "Seed of everything drawn at random (default: 1)");
  app.add_option(
      "--deadlines", options.deadlines,
      "LOW:HIGH[@SIZE]: deadline = submit + U(LOW,HIGH) x time on SIZE (default: 1:1.5 on 7g; "
      "for a trace its own deadlines, else 2:6 on 7g)");
  app.add_option("--training-share", options.training_share,
                 "Share of training jobs, where the source does not say (default: 0.2)");
}

void add_generator_options(CLI::App& app, WorkloadOptions& options) {
  app.add_option(
      "--workload", options.workload,
      "Generate jobs: paper (a daily curve), paper-fixed (a fixed rate), or a JSON file that "
      "describes them (default: paper)");
  app.add_option("--days", options.days, "Days in a row (default: 1)");
  app.add_option(
      "--rate", options.rate,
      "Multiply the daily curve by this factor (default: 20); for paper-fixed, jobs per minute "
      "(default: 8)");
  app.add_option("--count", options.count, "Number of jobs, for paper-fixed (default: 50)");
  app.add_option(
      "--speeds", options.speeds,
      "Speeds of the slices: paper (the papers' four profiles) or linear (default: paper)");
  app.add_option(
      "--curve", options.curve,
      "Use another hour-of-day curve, by name, with the same mean rate (default: the papers')");
  app.add_option(
      "--job-times", options.job_times,
      "Distribution of run times: paper, or constant, exponential or heavy with the same means "
      "(default: paper)");
}

void add_fill_options(CLI::App& app, WorkloadOptions& options) {
  app.add_option("--format", options.format,
                 "Format of the file: jobs, csv, openb, swf or sacct (default: by its first line)");
  app.add_option(
      "--assign-profiles", options.assign_profiles,
      "Speed profiles for a trace: a set of the catalogue, profile names, catalogue (all of it), "
      "linear, flat, memory-bound or large-only (default: paper)");
  app.add_flag("--right-size", options.right_size,
               "Never run a job on less than the fraction of a GPU that it asked for");
  app.add_option("--memory", options.memory,
                 "Memory that jobs of a trace need: trace (what the trace says), none, or profile "
                 "(default: trace)");
  app.add_option(
      "--multi-gpu", options.multi_gpu,
      "Jobs on several GPUs: drop, one (run on one), split (one job for each) (default: drop)");
  app.add_option(
      "--swf-procs-per-gpu", options.swf_procs_per_gpu,
      "Processors of an SWF file that count as one GPU (default: by its header, else 1)");
  app.add_option(
         "--where", options.where,
         "COLUMN=VALUE[,VALUE...]: only jobs with one of these values; columns of a trace: "
         "user, account, partition, class; of a job table: any. Repeat it to narrow further")
      ->allow_extra_args(false);
  app.add_option("--estimates", options.estimates,
                 "What policies believe of run times: trace (the file's estimates, where it has "
                 "them) or exact (default: trace)");
}

void add_workload_options(CLI::App& app, WorkloadOptions& options) {
  app.add_option("--jobs", options.jobs, "A file of jobs: a job table or a trace, plain or gzip");
  add_generator_options(app, options);
  app.get_option("--days")->excludes("--jobs");
  add_drawn_options(app, options);
  add_fill_options(app, options);
  group_options(app, "Jobs from a file",
                {"--jobs", "--format", "--assign-profiles", "--right-size", "--memory",
                 "--multi-gpu", "--swf-procs-per-gpu", "--where", "--estimates"});
  group_options(
      app, "Generated jobs",
      {"--workload", "--days", "--rate", "--count", "--speeds", "--curve", "--job-times"});
}

Result<Imported> import_jobs(const WorkloadOptions& options) {
  const auto misplaced = first_given({{"--workload", options.workload.has_value()},
                                      {"--rate", options.rate.has_value()},
                                      {"--count", options.count.has_value()},
                                      {"--speeds", options.speeds.has_value()},
                                      {"--curve", options.curve.has_value()},
                                      {"--job-times", options.job_times.has_value()}});
  if (!misplaced.empty())
    return fail("{}: is for the generator, expected no --jobs beside it", misplaced);
  const auto import = import_options(options);
  if (!import) return pass_on(import);
  auto imported = import_jobs(options.jobs, *import);
  if (!imported) return pass_on(imported);
  if (const auto rule = rule_given(options); !imported->report && !rule.empty()) {
    return fail("{}: is for traces, but {} is a job table and has everything", rule, options.jobs);
  }
  return imported;
}

bool WorkloadOptions::is_described() const {
  return jobs.empty() && workload && workload->find_first_of("./") != std::string::npos;
}

JobTable DescribedJobs::day(std::uint64_t day) const {
  DayDraw of_day = draw;
  of_day.day = day;
  return generate_described(workload, of_day);
}

Result<DescribedJobs> read_described(const WorkloadOptions& options, const Fleet& fleet) {
  if (const auto trace = trace_option_given(options); !trace.empty())
    return fail("{}: is for traces, expected --jobs beside it", trace);
  const auto misplaced = first_given({{"--rate", options.rate.has_value()},
                                      {"--count", options.count.has_value()},
                                      {"--speeds", options.speeds.has_value()},
                                      {"--curve", options.curve.has_value()},
                                      {"--job-times", options.job_times.has_value()},
                                      {"--deadlines", options.deadlines.has_value()},
                                      {"--training-share", options.training_share.has_value()},
                                      {"--days", options.days != 1}});
  if (!misplaced.empty())
    return fail("{}: {} describes the jobs, change it there", misplaced, *options.workload);
  auto workload = read_workload_file(*options.workload);
  if (!workload) return pass_on(workload);
  const auto rate = jobs_per_hour(*workload, fleet);
  if (!rate) return about(*options.workload, rate);
  return DescribedJobs{std::move(*workload), {*rate, fleet.largest_size(), options.seed, 0}};
}

Result<JobTable> make_jobs(const WorkloadOptions& options, const Fleet& fleet, std::uint64_t day) {
  if (!options.is_described()) return make_jobs(options, day);
  const auto described = read_described(options, fleet);
  if (!described) return pass_on(described);
  return described->day(day);
}

Result<JobTable> make_jobs(const WorkloadOptions& options, std::uint64_t day) {
  if (options.jobs.empty()) {
    const auto generator = generator_options(options, day);
    if (!generator) return pass_on(generator);
    return generate(*generator);
  }
  auto imported = import_jobs(options);
  if (!imported) return pass_on(imported);
  return std::move(imported->table);
}

}  // namespace smartmig
