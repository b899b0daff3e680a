#include "report/output_folder.h"

#include <unistd.h>

#include <filesystem>
#include <utility>

#include "base/file.h"

namespace smartmig {

namespace fs = std::filesystem;

Result<OutputFolder> OutputFolder::open(const std::string& path) {
  OutputFolder folder;
  folder.path_ = path;
  std::error_code ignored;
  for (fs::path at = fs::path(path).lexically_normal(); !at.empty() && !fs::exists(at, ignored);) {
    folder.made_.push_back(at.string());
    if (at == at.parent_path()) break;
    at = at.parent_path();
  }
  if (const auto made = make_writable_folder(path); !made) return pass_on(made);
  return folder;
}

OutputFolder::OutputFolder(OutputFolder&& other) noexcept
    : path_(std::move(other.path_)), made_(std::exchange(other.made_, {})) {}

OutputFolder::~OutputFolder() {
  std::error_code ignored;
  for (const std::string& made : made_) fs::remove(made, ignored);  // Only where it is empty.
}

Result<void> OutputFolder::write(std::span<const OutputFile> files) {
  const fs::path folder(path_);
  const fs::path aside = folder / fmt::format(".aside{}", ::getpid());
  std::error_code error;
  fs::create_directory(aside, error);
  if (error) return fail("{}: cannot be written: {}", path_, error.message());
  const auto write_all = [&]() -> Result<void> {
    for (const OutputFile& file : files) {
      const fs::path target = folder / file.name;
      std::error_code ignored;
      if (fs::is_directory(target, ignored)) {
        return fail("{}: is a folder, expected a file or nothing", target.string());
      }
      if (const auto done = write_file((aside / file.name).string(), file.bytes); !done)
        return done;
    }
    // The same folder's disk: a rename fails now only if someone takes the folder away meanwhile.
    for (std::size_t i = 0; i < files.size(); ++i) {
      fs::rename(aside / files[i].name, folder / files[i].name, error);
      if (!error) continue;
      std::error_code ignored;
      for (std::size_t k = 0; k < i; ++k) fs::remove(folder / files[k].name, ignored);
      return fail("{}: cannot be written: {}", (folder / files[i].name).string(), error.message());
    }
    return {};
  };
  const auto done = write_all();
  std::error_code ignored;
  fs::remove_all(aside, ignored);
  return done;
}

}  // namespace smartmig
