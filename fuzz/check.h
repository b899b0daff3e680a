// What every target asks of a reader, beside not crashing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace smartmig {

inline std::string_view as_text(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// An error is one line, and says something.
template <class T>
void check_error(const Result<T>& result) {
  if (result) return;
  const std::string& message = result.error().message;
  SM_CHECK(!message.empty() && message.find('\n') == std::string::npos);
}

}  // namespace smartmig
