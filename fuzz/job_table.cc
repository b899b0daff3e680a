#include "workload/job_table.h"

#include "check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace smartmig;
  const auto table = parse_job_table(as_text(data, size), "fuzz");
  check_error(table);
  if (!table) return 0;
  // What was read is written and read back to the same bytes.
  const std::string text = format_job_table(*table);
  const auto again = parse_job_table(text, "again");
  SM_CHECK(again.has_value());
  SM_CHECK(format_job_table(*again) == text);
  return 0;
}
