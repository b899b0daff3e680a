#include "case_count.h"

#include <chrono>
#include <cstdlib>
#include <optional>

#include "base/text.h"

namespace smartmig {
namespace {

// Programs with the address sanitizer are several times slower.
#ifdef __SANITIZE_ADDRESS__
constexpr int kShare = 5;
#else
constexpr int kShare = 1;
#endif

std::optional<std::int64_t> number_in_environment(const char* name) {
  const char* text = std::getenv(name);
  return text != nullptr ? parse_integer(text) : std::nullopt;
}

}  // namespace

int case_count(int usual) {
  const auto number = number_in_environment("SMARTMIG_CASES");
  return number && *number > 0 ? static_cast<int>(*number) : (usual + kShare - 1) / kShare;
}

std::uint64_t seed_of_this_run() {
  return static_cast<std::uint64_t>(
      number_in_environment("SMARTMIG_SEED")
          .value_or(std::chrono::steady_clock::now().time_since_epoch().count() % 1'000'000));
}

}  // namespace smartmig
