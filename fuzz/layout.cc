#include "mig/layout.h"

#include "check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace smartmig;
  for (const Board& board : BoardTable::shipped().boards()) {
    const auto layout = parse_layout(board, as_text(data, size));
    check_error(layout);
    if (!layout) continue;
    SM_CHECK(is_legal(board, *layout));
    const auto again = parse_layout(board, layout_name(board, *layout));
    SM_CHECK(again.has_value() && *again == *layout);
  }
  return 0;
}
