// How long the jobs of a described workload are (docs/formats/workload-file.md): a distribution by
// its mean and one number for its shape.
#pragma once

#include <cstdint>

#include "base/random.h"
#include "base/result.h"
#include "workload/job.h"

namespace smartmig {

enum class SizeLaw : std::uint8_t {
  kConstant,
  kExponential,
  kLognormal,
  kPareto  // Bounded: the longest job is kParetoSpan times the shortest.
};
Result<SizeLaw> parse_size_law(std::string_view word);
std::string_view to_string(SizeLaw law);

inline constexpr double kParetoSpan = 1000;

struct JobSizes {
  SizeLaw law = SizeLaw::kExponential;
  double mean_s = 180;         // Of all jobs, on a whole A100-40GB.
  double sigma = 1;            // Lognormal: the deviation of ln(size).
  double shape = 1.5;          // Pareto: the exponent; smaller means heavier.
  double training_factor = 1;  // Training jobs are this many times as long as inference jobs.
};

// The mean of the jobs of a kind, where this share of all jobs is training.
double mean_size_s(const JobSizes& sizes, JobKind kind, double training_share);

// A size as a multiple of its mean. Always one draw.
double draw_relative_size(const JobSizes& sizes, Random& random);

}  // namespace smartmig
