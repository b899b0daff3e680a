#include "check_trace.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  smartmig::check_trace(smartmig::parse_trace_sacct(smartmig::as_text(data, size), "fuzz"));
  return 0;
}
