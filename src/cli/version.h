#pragma once

namespace smartmig {

inline constexpr const char* kVersion = "0.1.0";  // As in CMakeLists.txt; a scenario checks it.

}  // namespace smartmig
