#include "base/binomial.h"

#include <cmath>

#include "base/result.h"

namespace smartmig {
namespace {

// Below this many expected successes inversion is quicker, and BTRS is not valid.
constexpr double kInversionMean = 10;

// Walks up the distribution from 0; p <= 1/2.
std::uint64_t by_inversion(Random& random, std::uint64_t n, double p) {
  const double odds = p / (1 - p);
  const double none = std::exp(static_cast<double>(n) * std::log1p(-p));
  double left = random.uniform();
  double mass = none;
  std::uint64_t k = 0;
  while (left >= mass && k < n) {
    left -= mass;
    ++k;
    mass *= odds * static_cast<double>(n - k + 1) / static_cast<double>(k);
    // What rounding leaves beyond the last possible digit is no tail: the draw is in the last cell.
    if (mass < 0x1.0p-80) break;
  }
  return k;
}

// log(k!) less Stirling's (k + 1/2) log(k + 1) - (k + 1) + log(2 pi) / 2.
double stirling_rest(double k) {
  static constexpr double kFirst[] = {
      0.08106146679532726,  0.04134069595540929, 0.02767792568499834, 0.02079067210376509,
      0.01664469118982119,  0.01387612882307075, 0.01189670994589177, 0.01041126526197209,
      0.009255462182712733, 0.008330563433362871};
  if (k < 10) return kFirst[static_cast<int>(k)];
  const double square = (k + 1) * (k + 1);
  return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1);
}

// p <= 1/2 and n * p >= 10. Names of the constants as in the article.
std::uint64_t by_rejection(Random& random, std::uint64_t trials, double p) {
  const auto n = static_cast<double>(trials);
  const double spread = std::sqrt(n * p * (1 - p));
  const double b = 1.15 + 2.53 * spread;
  const double a = -0.0873 + 0.0248 * b + 0.01 * p;
  const double c = n * p + 0.5;
  const double v_r = 0.92 - 4.2 / b;
  const double alpha = (2.83 + 5.1 / b) * spread;
  const double odds = p / (1 - p);
  const double mode = std::floor((n + 1) * p);
  for (;;) {
    const double u = random.uniform() - 0.5;
    const double v = random.uniform();
    const double us = 0.5 - std::abs(u);
    const double k = std::floor((2 * a / us + b) * u + c);
    if (!(k >= 0 && k <= n)) continue;
    if (us >= 0.07 && v <= v_r) return static_cast<std::uint64_t>(k);
    const double height = std::log(v * alpha / (a / (us * us) + b));
    const double log_ratio = (mode + 0.5) * std::log((mode + 1) / (odds * (n - mode + 1))) +
                             (n + 1) * std::log((n - mode + 1) / (n - k + 1)) +
                             (k + 0.5) * std::log(odds * (n - k + 1) / (k + 1)) +
                             stirling_rest(mode) + stirling_rest(n - mode) - stirling_rest(k) -
                             stirling_rest(n - k);
    if (height <= log_ratio) return static_cast<std::uint64_t>(k);
  }
}

}  // namespace

std::uint64_t binomial(Random& random, std::uint64_t n, double p) {
  SM_CHECK(p >= 0 && p <= 1);
  if (n == 0 || p == 0) return 0;
  if (p == 1) return n;
  const bool mirrored = p > 0.5;
  const double q = mirrored ? 1 - p : p;
  const std::uint64_t k = static_cast<double>(n) * q < kInversionMean ? by_inversion(random, n, q)
                                                                      : by_rejection(random, n, q);
  return mirrored ? n - k : k;
}

}  // namespace smartmig
