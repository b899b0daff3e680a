#include "base/shipped.h"

#include "base/result.h"

namespace smartmig {

std::string_view shipped_file(std::string_view name) {
  for (const ShippedFile& file : shipped_files()) {
    if (file.name == name) return file.bytes;
  }
  check_failed(__FILE__, __LINE__, "a shipped file of this name");
  return {};
}

}  // namespace smartmig
