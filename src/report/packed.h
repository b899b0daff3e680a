// Columns of whole numbers as text for a page: variable-length bytes, seven bits each and lowest
// first, packed by gzip and written in base64. web/timeline_data.js reads them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace smartmig {

class PackedColumn {
 public:
  void add(std::uint64_t value);
  // Small for values near 0 on either side: 0, -1, 1, -2, ... become 0, 1, 2, 3, ...
  void add_signed(std::int64_t value);
  std::string text() const;

 private:
  std::string bytes_;
};

std::string base64(std::string_view bytes);
// Text packed the same way.
std::string packed_text(std::string_view text);

}  // namespace smartmig
