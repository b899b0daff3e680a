// A folder for the files of one run. It is checked before the run, so that hours of work do not end
// at a folder that cannot be written; the files come all together or not at all; and where none
// came, no folder made for them is left.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace smartmig {

struct OutputFile {
  std::string name;
  std::string bytes;
};

class OutputFolder {
 public:
  static Result<OutputFolder> open(const std::string& path);
  ~OutputFolder();
  OutputFolder(OutputFolder&& other) noexcept;
  OutputFolder& operator=(OutputFolder&&) = delete;

  // Replaces files of these names. Everything is written aside before the first is put in place.
  Result<void> write(std::span<const OutputFile> files);

 private:
  OutputFolder() = default;

  std::string path_;
  std::vector<std::string> made_;  // Folders that were not there before, deepest first.
};

}  // namespace smartmig
