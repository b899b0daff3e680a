// A workload that a file describes by its distributions (docs/formats/workload-file.md): when jobs
// arrive, how long they are, how their speed grows with the slice, and their deadlines. Everything
// is drawn from named streams of (seed, day), as in workload/generator.h.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "workload/generator.h"
#include "workload/job.h"
#include "workload/sizes.h"

namespace smartmig {

class JsonFields;

struct ArrivalLaw {
  std::string curve = "flat";        // A name for people; `by_hour` is what counts.
  std::array<double, 24> by_hour{};  // Mean 1.
  double batch_mean = 1;             // Jobs that arrive at one instant; geometric.

  ArrivalLaw() { by_hour.fill(1); }
};

// How many jobs arrive, in the mean of a day.
enum class RateUnit : std::uint8_t {
  kLoad,  // As a multiple of what the fleet can serve (study/load.h).
  kJobsPerHour
};

struct DescribedWorkload {
  ArrivalLaw arrivals;
  RateUnit rate_unit = RateUnit::kLoad;
  double rate = 0.8;
  JobSizes sizes;
  std::string speeds = "paper";  // What ProfilePool::parse() takes.
  double training_share = 0.2;
  double stoppable_share = 1;  // Of the training jobs; inference jobs never stop.
  DeadlineRule deadlines;
  double hours = 24;    // A day ends after so long,
  int max_jobs = 4000;  // or with this job.
};

// The curve of one of the shipped names, or the same rate at every hour for "flat".
Result<ArrivalLaw> arrivals_by_curve(std::string_view name);

// Reads the fields of an object; errors are the document's.
DescribedWorkload read_workload(const JsonFields& fields);
Result<DescribedWorkload> parse_workload(std::string_view json, const std::string& name);
Result<DescribedWorkload> read_workload_file(const std::string& path);
// A text that parse_workload() turns into the same workload.
nlohmann::ordered_json to_json(const DescribedWorkload& workload);
// "paper arrivals, load 0.8, lognormal sizes of 180 s, flat speeds, ..."
std::string describe(const DescribedWorkload& workload);

// The jobs in the mean: a kind with a speed profile, how often it comes, and its mean time on each
// size (0: does not run there). `largest_size`, an index into kSizes, is the largest that the fleet
// has: profiles that do not run there are not drawn.
struct JobType {
  double share = 0;
  std::array<double, kSizeCount> mean_s{};
};
std::vector<JobType> job_types(const DescribedWorkload& workload, int largest_size);

// One day. `jobs_per_hour` takes the place of the workload's rate.
struct DayDraw {
  double jobs_per_hour = 0;
  int largest_size = kSizeCount - 1;
  std::uint64_t seed = 1;
  std::uint64_t day = 0;  // The number of the stream.
};
JobTable generate_described(const DescribedWorkload& workload, const DayDraw& draw);

}  // namespace smartmig
