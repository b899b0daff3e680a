#include "base/random.h"

#include <cmath>

#include "base/result.h"

namespace smartmig {
namespace {

std::uint64_t splitmix(std::uint64_t& x) {
  std::uint64_t z = (x += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

std::uint64_t rotl(std::uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

// Horner's rule, highest power first.
template <int N>
double polynomial(const double (&c)[N], double x) {
  double sum = c[0];
  for (int i = 1; i < N; ++i) sum = sum * x + c[i];
  return sum;
}

}  // namespace

Random::Random(std::uint64_t seed, std::string_view stream, std::uint64_t number) {
  // FNV-1a over the name, then everything through splitmix so that near seeds give far states.
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (char c : stream) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  std::uint64_t x = seed;
  x = splitmix(x) ^ hash;
  x = splitmix(x) ^ number;
  for (auto& word : state_) word = splitmix(x);
}

std::uint64_t Random::bits() {
  const std::uint64_t result = rotl(state_[0] + state_[3], 23) + state_[0];
  const std::uint64_t t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = rotl(state_[3], 45);
  return result;
}

double Random::uniform() { return static_cast<double>(bits() >> 11) * 0x1.0p-53; }

double Random::uniform(double low, double high) { return low + (high - low) * uniform(); }

std::uint64_t Random::below(std::uint64_t n) {
  SM_CHECK(n > 0);
  // Rejects the short last run of 2^64, so that every value is equally likely.
  const std::uint64_t limit = (0 - n) % n;
  for (;;) {
    const std::uint64_t x = bits();
    if (x >= limit) return x % n;
  }
}

double Random::exponential(double mean) { return -mean * std::log1p(-uniform()); }

double Random::normal() {
  // The middle of each of the 2^53 cells: never 0 or 1.
  return normal_quantile((static_cast<double>(bits() >> 11) + 0.5) * 0x1.0p-53);
}

double Random::lognormal(double mu, double sigma) { return std::exp(mu + sigma * normal()); }

double normal_quantile(double p) {
  static constexpr double kA[] = {
      2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457,
      13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.387132872796366608};
  static constexpr double kB[] = {
      5226.495278852545925,  28729.085735721942674, 39307.89580009271061,  21213.794301586595867,
      5394.1960214247511077, 687.1870074920579083,  42.313330701600911252, 1.0};
  static constexpr double kC[] = {7.7454501427834140764e-4, 0.0227238449892691845833,
                                  0.24178072517745061177,   1.27045825245236838258,
                                  3.64784832476320460504,   5.7694972214606914055,
                                  4.6303378461565452959,    1.42343711074968357734};
  static constexpr double kD[] = {1.05075007164441684324e-9, 5.475938084995344946e-4,
                                  0.0151986665636164571966,  0.14810397642748007459,
                                  0.68976733498510000455,    1.6763848301838038494,
                                  2.05319162663775882187,    1.0};
  static constexpr double kE[] = {2.01033439929228813265e-7, 2.71155556874348757815e-5,
                                  0.0012426609473880784386,  0.026532189526576123093,
                                  0.29656057182850489123,    1.7848265399172913358,
                                  5.4637849111641143699,     6.6579046435011037772};
  static constexpr double kF[] = {2.04426310338993978564e-15, 1.4215117583164458887e-7,
                                  1.8463183175100546818e-5,   7.868691311456132591e-4,
                                  0.0148753612908506148525,   0.13692988092273580531,
                                  0.59983220655588793769,     1.0};
  SM_CHECK(p > 0 && p < 1);
  const double q = p - 0.5;
  if (std::abs(q) <= 0.425) {
    const double r = 0.180625 - q * q;
    return q * polynomial(kA, r) / polynomial(kB, r);
  }
  double r = std::sqrt(-std::log(q < 0 ? p : 1 - p));
  double value;
  if (r <= 5) {
    r -= 1.6;
    value = polynomial(kC, r) / polynomial(kD, r);
  } else {
    r -= 5;
    value = polynomial(kE, r) / polynomial(kF, r);
  }
  return q < 0 ? -value : value;
}

}  // namespace smartmig
