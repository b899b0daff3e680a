#include "control/job_request.h"

#include "check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace smartmig;
  const auto request = parse_job_request(as_text(data, size));
  if (!request) {
    SM_CHECK(request.error().status == 400);
    SM_CHECK(!request.error().error.empty());
    SM_CHECK(request.error().error.find('\n') == std::string::npos);
    return 0;
  }
  // What is taken can be kept as its text and read back as the same, and is a job that can run.
  const std::string text = to_json_text(*request);
  const auto again = parse_job_request(text);
  SM_CHECK(again.has_value());
  SM_CHECK(to_json_text(*again) == text);
  const Job job = to_job(*request, 0);
  SM_CHECK(job.deadline_us >= 0 && job.memory_mib >= 0);
  SM_CHECK(job.checkpoint_ms >= 0 || job.checkpoint_ms == kByCostModel);
  bool runs = false;
  for (const TimeUs time : job.time_us) runs = runs || time > 0;
  SM_CHECK(runs);
  return 0;
}
