// Search over vectors of tens to a few hundred numbers by scoring samples: no gradient, any score.
// CmaEs learns the full covariance of good steps. Less is better. The caller owns the loop:
//
//   CmaEs search(settings, start, scales);
//   while (!search.done()) curve.push_back(search.step(score, pool));
//
// Draws are numbered by generation and the state is one struct, so a search that is stopped and
// taken up, or run on more threads, ends in the same bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "base/worker_pool.h"
#include "nn/safetensors.h"

namespace smartmig {

struct EvolutionSettings {
  std::uint64_t seed = 1;
  std::int64_t generations = 100;
  int population = 0;  // 0: 4 + 3 ln n, Hansen's default.
  double sigma = 0.3;  // First step, in the units of the scales.
  // Whether bad samples push the covariance away (Jastrebski and Arnold 2006).
  bool active = true;
};

std::string describe(const EvolutionSettings& settings);

// Called from several threads at once; must depend on its arguments alone. The generation lets it
// change what it scores on (other days), the same for all samples of a generation. What is not
// finite ranks last.
using Score = std::function<double(std::span<const double> parameters, std::int64_t generation)>;

// One row of a learning curve.
struct EvolutionProgress {
  std::int64_t generation = 0;
  std::int64_t evaluations = 0;
  double best = 0;  // Of this generation's scores.
  double median = 0;
  double sigma = 0;
};

struct CmaState {
  std::vector<double> mean;        // In units of the scales, from the start.
  std::vector<double> covariance;  // n x n.
  std::vector<double> path;        // Of the covariance,
  std::vector<double> sigma_path;  // and of sigma.
  double sigma = 0;
  std::int64_t generation = 0;
  double best_score = 0;  // Of all generations; comparable only where they score on the same.
  std::vector<double> best;
};

class CmaEs {
 public:
  // `scales`: how far each number is expected to move; none: 1 for all.
  CmaEs(const EvolutionSettings& settings, std::vector<double> start,
        std::vector<double> scales = {});

  bool done() const { return state_.generation >= settings_.generations; }
  EvolutionProgress step(const Score& score, WorkerPool& pool);

  const CmaState& state() const { return state_; }
  std::vector<double> mean() const;  // The answer: less lucky than the best sample.
  std::vector<double> best() const;  // The start before the first generation.

  TensorFile checkpoint() const;
  Result<void> resume(const TensorFile& file, std::string_view name);

 private:
  // Hansen's constants (The CMA evolution strategy: a tutorial, 2016, table 1).
  struct Constants {
    std::vector<double> weights;  // By rank, the later ones negative where active.
    std::size_t parents = 0;
    double mass = 0;  // mu_eff
    double c_sigma = 0, d_sigma = 0, c_path = 0, c_one = 0, c_mu = 0;
    double expected_length = 0;  // Of a standard normal vector.
  };
  static Constants constants_for(std::size_t n, std::size_t population, bool active);
  std::vector<double> in_units(std::span<const double> scaled) const;
  void decompose();
  void draw_samples();
  void update(std::span<const std::size_t> ranking);

  EvolutionSettings settings_;
  std::vector<double> start_;
  std::vector<double> scales_;
  std::size_t n_;
  std::size_t population_;
  Constants constants_;
  CmaState state_;
  std::vector<double> axes_;     // Row i: axis i of the covariance.
  std::vector<double> lengths_;  // Standard deviation along it.
  std::vector<double> normals_;  // population x n, and the steps they become.
  std::vector<double> steps_;
};

// Samples by score, best first; equals by index, what is not finite last.
std::vector<std::size_t> rank_scores(std::span<const double> scores);

}  // namespace smartmig
