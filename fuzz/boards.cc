#include "check.h"
#include "mig/board.h"
#include "mig/layout.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace smartmig;
  const auto table = BoardTable::parse(as_text(data, size), "fuzz");
  check_error(table);
  if (!table) return 0;
  // A board that was accepted can be used.
  for (const Board& board : table->boards()) {
    SM_CHECK(is_legal(board, 0));
    SM_CHECK(board.largest_profile() >= 0);
  }
  return 0;
}
