// The host's clock for lengths of time: it is never set, as wall clocks are.
#pragma once

#include <cstdint>

namespace smartmig {

inline constexpr std::int64_t kSecondNs = 1'000'000'000;

std::int64_t monotonic_ns();  // CLOCK_MONOTONIC, the same for all processes of the host.

}  // namespace smartmig
