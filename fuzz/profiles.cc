#include "check.h"
#include "workload/catalogue.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace smartmig;
  const auto catalogue = Catalogue::parse(as_text(data, size), "fuzz");
  check_error(catalogue);
  if (!catalogue) return 0;
  for (const SpeedProfile& profile : catalogue->profiles()) {
    SM_CHECK(catalogue->find(profile.name).has_value());
  }
  return 0;
}
