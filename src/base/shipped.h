// The files of data/ and web/, compiled into the program so that it finds its defaults, and what
// its pages are made of, wherever it is installed.
#pragma once

#include <span>
#include <string_view>

namespace smartmig {

struct ShippedFile {
  std::string_view name;  // "boards.json"
  std::string_view bytes;
};

std::span<const ShippedFile> shipped_files();

// The bytes of one of them. Asking for a name that is not shipped is a bug.
std::string_view shipped_file(std::string_view name);

}  // namespace smartmig
