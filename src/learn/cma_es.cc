#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/random.h"
#include "learn/evolution.h"
#include "nn/symmetric_eigen.h"

namespace smartmig {
namespace {

double length_of(std::span<const double> x) {
  double square = 0;
  for (double value : x) square += value * value;
  return std::sqrt(square);
}

// The least weight that bad samples may have in sum: the update still forgets no more than it
// learned, and the covariance stays positive.
double negative_mass(double n, double c_one, double c_mu, double mass, double bad_mass) {
  const double by_learning = 1 + c_one / c_mu;
  const double by_mass = 1 + 2 * bad_mass / (mass + 2);
  const double by_definiteness = (1 - c_one - c_mu) / (n * c_mu);
  return std::min({by_learning, by_mass, by_definiteness});
}

// (sum w)^2 / sum w^2.
double variance_mass(std::span<const double> weights) {
  double sum = 0;
  double square = 0;
  for (double w : weights) sum += w, square += w * w;
  return square > 0 ? sum * sum / square : 0;
}

}  // namespace

std::string describe(const EvolutionSettings& s) {
  return fmt::format("seed {} generations {} population {} sigma {} active {}", s.seed,
                     s.generations, s.population, s.sigma, s.active);
}

std::vector<std::size_t> rank_scores(std::span<const double> scores) {
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const bool finite = std::isfinite(scores[a]);
    if (!finite || !std::isfinite(scores[b])) return finite && !std::isfinite(scores[b]);
    return scores[a] < scores[b];
  });
  return order;
}

CmaEs::Constants CmaEs::constants_for(std::size_t dimensions, std::size_t population, bool active) {
  Constants c;
  const auto n = static_cast<double>(dimensions);
  for (std::size_t i = 1; i <= population; ++i) {
    c.weights.push_back(std::log((static_cast<double>(population) + 1) / 2) -
                        std::log(static_cast<double>(i)));
  }
  c.parents = population / 2;
  const std::span all(c.weights);
  c.mass = variance_mass(all.first(c.parents));
  const double bad_mass = variance_mass(all.subspan(c.parents));
  c.c_sigma = (c.mass + 2) / (n + c.mass + 5);
  c.d_sigma = 1 + 2 * std::max(0.0, std::sqrt((c.mass - 1) / (n + 1)) - 1) + c.c_sigma;
  c.c_path = (4 + c.mass / n) / (n + 4 + 2 * c.mass / n);
  c.c_one = 2 / ((n + 1.3) * (n + 1.3) + c.mass);
  c.c_mu =
      std::min(1 - c.c_one, 2 * (0.25 + c.mass + 1 / c.mass - 2) / ((n + 2) * (n + 2) + c.mass));
  c.expected_length = std::sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n * n));
  double good = 0;
  double bad = 0;
  for (double w : c.weights) (w > 0 ? good : bad) += std::abs(w);
  const double bad_sum = active ? negative_mass(n, c.c_one, c.c_mu, c.mass, bad_mass) : 0;
  for (double& w : c.weights) w *= w > 0 ? 1 / good : bad_sum / std::max(bad, 1e-300);
  return c;
}

CmaEs::CmaEs(const EvolutionSettings& settings, std::vector<double> start,
             std::vector<double> scales)
    : settings_(settings), start_(std::move(start)), scales_(std::move(scales)), n_(start_.size()) {
  SM_CHECK(n_ > 0);
  if (scales_.empty()) scales_.assign(n_, 1.0);
  SM_CHECK(scales_.size() == n_);
  population_ = settings.population > 0
                    ? static_cast<std::size_t>(std::max(settings.population, 4))
                    : 4 + static_cast<std::size_t>(3 * std::log(static_cast<double>(n_)));
  constants_ = constants_for(n_, population_, settings.active);
  state_.mean.resize(n_);
  state_.covariance.resize(n_ * n_);
  for (std::size_t i = 0; i < n_; ++i) state_.covariance[i * n_ + i] = 1;
  state_.path.resize(n_);
  state_.sigma_path.resize(n_);
  state_.sigma = settings.sigma;
  state_.best.resize(n_);
  axes_.resize(n_ * n_);
  lengths_.resize(n_);
  normals_.resize(population_ * n_);
  steps_.resize(population_ * n_);
}

std::vector<double> CmaEs::in_units(std::span<const double> scaled) const {
  std::vector<double> out(n_);
  for (std::size_t i = 0; i < n_; ++i) out[i] = start_[i] + scales_[i] * scaled[i];
  return out;
}

std::vector<double> CmaEs::mean() const { return in_units(state_.mean); }
std::vector<double> CmaEs::best() const { return in_units(state_.best); }

void CmaEs::decompose() {
  symmetric_eigen(n_, state_.covariance, lengths_, axes_);
  // Rounding may leave a direction with nothing, or less.
  const double least = std::max(lengths_.back() * 1e-14, 1e-300);
  for (double& length : lengths_) length = std::sqrt(std::max(length, least));
}

void CmaEs::draw_samples() {
  Random random(settings_.seed, "evolution", static_cast<std::uint64_t>(state_.generation));
  for (double& z : normals_) z = random.normal();
  std::fill(steps_.begin(), steps_.end(), 0.0);
  for (std::size_t s = 0; s < population_; ++s) {
    for (std::size_t axis = 0; axis < n_; ++axis) {
      const double along = normals_[s * n_ + axis] * lengths_[axis];
      for (std::size_t i = 0; i < n_; ++i) steps_[s * n_ + i] += along * axes_[axis * n_ + i];
    }
  }
}

void CmaEs::update(std::span<const std::size_t> ranking) {
  const Constants& c = constants_;
  std::vector<double> step(n_);     // Of the mean, in units of sigma,
  std::vector<double> uniform(n_);  // and with the covariance taken out, along the axes.
  for (std::size_t r = 0; r < c.parents; ++r) {
    for (std::size_t i = 0; i < n_; ++i) {
      step[i] += c.weights[r] * steps_[ranking[r] * n_ + i];
      uniform[i] += c.weights[r] * normals_[ranking[r] * n_ + i];
    }
  }
  const double keep_sigma = std::sqrt(c.c_sigma * (2 - c.c_sigma) * c.mass);
  for (double& p : state_.sigma_path) p *= 1 - c.c_sigma;
  for (std::size_t axis = 0; axis < n_; ++axis) {
    for (std::size_t i = 0; i < n_; ++i) {
      state_.sigma_path[i] += keep_sigma * uniform[axis] * axes_[axis * n_ + i];
    }
  }
  for (std::size_t i = 0; i < n_; ++i) state_.mean[i] += state_.sigma * step[i];
  const double length = length_of(state_.sigma_path);
  // Where sigma is about to grow fast the path stands still, or the covariance would overshoot.
  const double warm =
      std::sqrt(1 - std::pow(1 - c.c_sigma, 2 * (static_cast<double>(state_.generation) + 1)));
  const bool moves = length / warm < (1.4 + 2 / (static_cast<double>(n_) + 1)) * c.expected_length;
  const double keep_path = std::sqrt(c.c_path * (2 - c.c_path) * c.mass);
  for (std::size_t i = 0; i < n_; ++i) {
    state_.path[i] = (1 - c.c_path) * state_.path[i] + (moves ? keep_path * step[i] : 0);
  }
  double weight_sum = 0;
  for (double w : c.weights) weight_sum += w;
  const double stalled = moves ? 0 : c.c_path * (2 - c.c_path);
  const double keep = 1 + c.c_one * stalled - c.c_one - c.c_mu * weight_sum;
  for (double& value : state_.covariance) value *= keep;
  const auto add_square = [&](double weight, const double* y) {
    for (std::size_t i = 0; i < n_; ++i) {
      const double w = weight * y[i];
      for (std::size_t j = 0; j < n_; ++j) state_.covariance[i * n_ + j] += w * y[j];
    }
  };
  add_square(c.c_one, state_.path.data());
  for (std::size_t r = 0; r < population_; ++r) {
    double weight = c.weights[r];
    if (weight == 0) continue;
    const std::size_t s = ranking[r];
    if (weight < 0) {
      // However long the step was, what it takes away is bounded.
      const double norm = length_of({normals_.data() + s * n_, n_});
      weight *= static_cast<double>(n_) / std::max(norm * norm, 1e-12);
    }
    add_square(c.c_mu * weight, steps_.data() + s * n_);
  }
  state_.sigma *= std::exp(c.c_sigma / c.d_sigma * (length / c.expected_length - 1));
  state_.sigma = std::clamp(state_.sigma, 1e-150, 1e150);
}

EvolutionProgress CmaEs::step(const Score& score, WorkerPool& pool) {
  SM_CHECK(!done());
  decompose();
  draw_samples();
  std::vector<double> scores(population_);
  const auto sample = [&](std::size_t s) {
    std::vector<double> x(n_);
    for (std::size_t i = 0; i < n_; ++i) {
      x[i] = state_.mean[i] + state_.sigma * steps_[s * n_ + i];
    }
    return x;
  };
  pool.run(population_,
           [&](std::size_t s) { scores[s] = score(in_units(sample(s)), state_.generation); });
  const auto ranking = rank_scores(scores);
  const double best = scores[ranking.front()];
  if (std::isfinite(best) && (state_.generation == 0 || best < state_.best_score)) {
    state_.best_score = best;
    state_.best = sample(ranking.front());
  }
  update(ranking);
  ++state_.generation;
  return {state_.generation, state_.generation * static_cast<std::int64_t>(population_), best,
          scores[ranking[population_ / 2]], state_.sigma};
}

}  // namespace smartmig
