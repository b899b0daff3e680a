// Whole files in and out. Reading unpacks gzip (by its first two bytes, not by the name); writing
// goes to a file beside the target and is renamed over it, so that a run that fails half-way leaves
// nothing behind.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace smartmig {

// The unpacked bytes. Errors: absent, unreadable, a folder, or a gzip that is truncated or damaged.
Result<std::string> read_file(const std::string& path);

// Packs; the same bytes give the same bytes.
std::string gzip(std::string_view bytes);

// Unpacks `bytes` if they are gzip, else returns them as they are; `name` is for the error line.
Result<std::string> gunzip(std::string bytes, std::string_view name);

// Packs `bytes` where the path ends in .gz.
Result<void> write_file(const std::string& path, std::string_view bytes);

// Makes the folder and its parents and checks that a file can be made in it.
Result<void> make_writable_folder(const std::string& path);

}  // namespace smartmig
