// exp and tanh over arrays, made of products, sums and one division only: every element takes the
// same steps wherever it lies in memory, which those of a vector library do not promise, so results
// are the same on every run and machine. Plain loops, which compilers turn into vectors.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace smartmig {

// Relative error about 1e-7. Arguments are cut to where the result is a normal number.
inline float exp_of(float x) {
  constexpr float kLog2E = 1.44269504F;
  // ln 2 in two parts, the first with trailing zeros, so that n * kHigh is exact.
  constexpr float kHigh = 0.693359375F;
  constexpr float kLow = -2.12194440e-4F;
  // Adding 1.5 * 2^23 rounds to a whole number, which then stands in the lowest bits.
  constexpr float kRound = 12582912.0F;
  x = x < -87.0F ? -87.0F : x;
  x = x > 88.0F ? 88.0F : x;
  const float shifted = x * kLog2E + kRound;
  const float n = shifted - kRound;
  const float r = (x - n * kHigh) - n * kLow;
  // The series up to r^7; |r| <= ln 2 / 2, so what is left out is below 6e-9.
  float sum = 1.0F / 5040;
  sum = sum * r + 1.0F / 720;
  sum = sum * r + 1.0F / 120;
  sum = sum * r + 1.0F / 24;
  sum = sum * r + 1.0F / 6;
  sum = sum * r + 0.5F;
  sum = sum * r + 1.0F;
  sum = sum * r + 1.0F;
  const std::uint32_t whole = std::bit_cast<std::uint32_t>(shifted) - 0x4b400000U;
  return sum * std::bit_cast<float>((whole + 127U) << 23);
}

inline void exp_all(const float* x, float* out, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) out[i] = exp_of(x[i]);
}

// Absolute error about 1e-7; beyond 9 it is 1 to the last bit.
inline void tanh_all(float* x, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    float t = x[i] < -9.0F ? -9.0F : x[i];
    t = t > 9.0F ? 9.0F : t;
    x[i] = 1.0F - 2.0F / (exp_of(2.0F * t) + 1.0F);
  }
}

}  // namespace smartmig
