#include "check_trace.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = smartmig::as_text(data, size);
  smartmig::check_trace(smartmig::parse_trace_swf(text, "fuzz", {}));
  smartmig::check_trace(smartmig::parse_trace_swf(text, "fuzz", 128));
  return 0;
}
