// Results of a suite on disk, so that the same setting, policy and version are computed once. Each
// is a small JSON file whose name is the SHA-256 of what it is the result of.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "base/result.h"

namespace smartmig {

class SuiteCache {
 public:
  SuiteCache() = default;  // Keeps nothing.
  // The folder must be there. `version` stands for all code and data that results depend on.
  SuiteCache(std::string folder, std::string version)
      : folder_(std::move(folder)), version_(std::move(version)) {}

  // null where there is none, or one that cannot be read.
  nlohmann::json find(std::string_view setting, std::string_view what) const;
  Result<void> keep(std::string_view setting, std::string_view what,
                    const nlohmann::json& result) const;

 private:
  std::string path(std::string_view setting, std::string_view what) const;

  std::string folder_;
  std::string version_;
};

}  // namespace smartmig
