#include "base/file.h"
#include "check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace smartmig;
  check_error(gunzip(std::string(as_text(data, size)), "fuzz"));
  return 0;
}
