#include "workload/sizes.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/text.h"

namespace smartmig {
namespace {

const std::string kSizeLaws[] = {"constant", "exponential", "lognormal", "pareto"};

// The mean of the bounded Pareto distribution on [1, kParetoSpan].
double pareto_mean(double shape) {
  const double tail = 1 - std::pow(kParetoSpan, -shape);
  if (shape == 1) return std::log(kParetoSpan) / tail;
  return shape / (shape - 1) * (1 - std::pow(kParetoSpan, 1 - shape)) / tail;
}

}  // namespace

Result<SizeLaw> parse_size_law(std::string_view word) {
  const auto at = std::ranges::find(kSizeLaws, word);
  if (at != std::end(kSizeLaws)) return static_cast<SizeLaw>(at - std::begin(kSizeLaws));
  return fail("found {}, expected constant, exponential, lognormal or pareto", in_quotes(word));
}

std::string_view to_string(SizeLaw law) { return kSizeLaws[static_cast<std::size_t>(law)]; }

double mean_size_s(const JobSizes& sizes, JobKind kind, double training_share) {
  const double inference_s =
      sizes.mean_s / (1 - training_share + training_share * sizes.training_factor);
  return kind == JobKind::kTraining ? inference_s * sizes.training_factor : inference_s;
}

double draw_relative_size(const JobSizes& sizes, Random& random) {
  switch (sizes.law) {
    case SizeLaw::kExponential:
      return random.exponential(1);
    case SizeLaw::kLognormal:
      return random.lognormal(-sizes.sigma * sizes.sigma / 2, sizes.sigma);
    case SizeLaw::kPareto: {
      const double tail = 1 - std::pow(kParetoSpan, -sizes.shape);
      return std::pow(1 - random.uniform() * tail, -1 / sizes.shape) / pareto_mean(sizes.shape);
    }
    case SizeLaw::kConstant:
      break;
  }
  random.uniform();
  return 1;
}

}  // namespace smartmig
