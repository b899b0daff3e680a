// How many cases a test of random cases runs. script/soak asks for more than script/test.
#pragma once

namespace smartmig {

// SMARTMIG_CASES in the environment, or `usual`.
int case_count(int usual);

}  // namespace smartmig
