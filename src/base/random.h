// Random numbers that are the same on every machine. A stream has a seed, a name and a number:
// draws from
// ("arrivals", day 3) never depend on how many were taken from ("deadlines", day 3) or from day 2.
// The generator is xoshiro256++ (Blackman and Vigna 2019) seeded by splitmix64; the distributions
// are ours because those of the standard library differ between implementations. Not for more than
// one thread.
#pragma once

#include <cstdint>
#include <string_view>

namespace smartmig {

class Random {
 public:
  Random(std::uint64_t seed, std::string_view stream, std::uint64_t number = 0);

  std::uint64_t bits();
  double uniform();                           // [0, 1), 53 bits
  double uniform(double low, double high);    // [low, high), high itself where that rounds to it
  std::uint64_t below(std::uint64_t n);       // 0..n-1 without bias; n > 0
  double exponential(double mean);            // by inversion
  double normal();                            // by inversion, so that one draw costs one uniform
  double lognormal(double mu, double sigma);  // exp(mu + sigma * normal())

 private:
  std::uint64_t state_[4];
};

// The standard normal quantile (Wichura 1988, AS 241, about 1e-16 relative); 0 < p < 1.
double normal_quantile(double p);

}  // namespace smartmig
