// The files of the dashboard: all that is ever served as a file.
#pragma once

#include <span>
#include <string_view>

namespace smartmig {

struct WebFile {
  std::string_view name;  // In web/, and under /web/.
  std::string_view content_type;
};

std::span<const WebFile> web_files();

// The file of that name; null: there is none to serve, whatever else is shipped.
const WebFile* find_web_file(std::string_view name);

}  // namespace smartmig
