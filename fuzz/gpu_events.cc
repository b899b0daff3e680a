#include "study/gpu_events.h"

#include "check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace smartmig;
  static const Fleet fleet = *Fleet::parse("3xA100-40GB");
  const auto events = parse_gpu_events(as_text(data, size), "fuzz", fleet);
  check_error(events);
  if (!events) return 0;
  // In order of time, and every GPU fails and returns in turns.
  bool down[3] = {};
  TimeUs last = 0;
  for (const GpuEvent& event : *events) {
    SM_CHECK(event.at_us >= last && event.gpu < 3 && down[event.gpu] != event.fail);
    last = event.at_us;
    down[event.gpu] = event.fail;
  }
  return 0;
}
