// Whole files in and out. Reading unpacks gzip (by its first two bytes, not by the name); writing
// goes to a file beside the target and is renamed over it, so that a run that fails half-way leaves
// nothing behind.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace smartmig {

// How much memory a file may take. A gzip may unpack to at most `ratio` times its own size, unless
// that is less than `any_ratio_bytes`: text packs to a tenth, a bomb to a thousandth.
struct FileLimits {
  std::size_t bytes = std::size_t{2} << 30;  // Unpacked.
  std::size_t ratio = 100;
  std::size_t any_ratio_bytes = std::size_t{64} << 20;
};
// For documents that a parser turns into many small objects.
inline constexpr FileLimits kDocumentLimits = {std::size_t{64} << 20};

// The unpacked bytes. Errors: absent, unreadable, a folder, over the limits, or a gzip that is
// truncated or damaged.
Result<std::string> read_file(const std::string& path, const FileLimits& limits = {});

// Packs; the same bytes give the same bytes.
std::string gzip(std::string_view bytes);

// Unpacks `bytes` if they are gzip, else returns them as they are; `name` is for the error line.
Result<std::string> gunzip(std::string bytes, std::string_view name, const FileLimits& limits = {});

// Packs `bytes` where the path ends in .gz.
Result<void> write_file(const std::string& path, std::string_view bytes);

// Makes the folder and its parents and checks that a file can be made in it.
Result<void> make_writable_folder(const std::string& path);

}  // namespace smartmig
