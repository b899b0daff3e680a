#include "learn/learning_curve.h"

#include <fmt/format.h>

#include <iterator>

namespace smartmig {

std::string curve_csv(std::span<const PpoProgress> rows) {
  std::string out =
      "iteration,steps,episodes,mean_return,mean_et,policy_loss,value_loss,entropy,kl,"
      "clip_fraction,explained_variance,gradient_length,skipped,learning_rate\n";
  for (const PpoProgress& r : rows) {
    fmt::format_to(std::back_inserter(out), "{},{},{},", r.iteration, r.steps, r.episodes);
    // Nothing is known of the mean where no episode ended.
    if (r.episodes) {
      fmt::format_to(std::back_inserter(out), "{},{},", r.mean_return, r.mean_et);
    } else {
      out += ",,";
    }
    fmt::format_to(std::back_inserter(out), "{},{},{},{},{},{},{},{},{}\n", r.policy_loss,
                   r.value_loss, r.entropy, r.kl, r.clip_fraction, r.explained_variance,
                   r.gradient_length, r.skipped, r.learning_rate);
  }
  return out;
}

std::string curve_csv(std::span<const EvolutionProgress> rows) {
  std::string out = "generation,evaluations,best,median,sigma\n";
  for (const EvolutionProgress& r : rows) {
    fmt::format_to(std::back_inserter(out), "{},{},{},{},{}\n", r.generation, r.evaluations, r.best,
                   r.median, r.sigma);
  }
  return out;
}

}  // namespace smartmig
