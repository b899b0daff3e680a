// How many cases a test of random cases runs, and from which seed. script/soak asks for more than
// script/test.
#pragma once

#include <cstdint>

namespace smartmig {

// SMARTMIG_CASES in the environment, or `usual`; under the address sanitizer a share of it.
int case_count(int usual);
// SMARTMIG_SEED in the environment, or another one for each run: the test must print it.
std::uint64_t seed_of_this_run();

}  // namespace smartmig
