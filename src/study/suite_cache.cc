#include "study/suite_cache.h"

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/json_fields.h"
#include "base/sha256.h"

namespace smartmig {

std::string SuiteCache::path(std::string_view setting, std::string_view what) const {
  Sha256 sum;
  for (const std::string_view part : {std::string_view(version_), setting, what}) {
    sum.add(static_cast<std::int64_t>(part.size()));
    sum.add(part);
  }
  return fmt::format("{}/{}.json", folder_, sum.hex());
}

nlohmann::json SuiteCache::find(std::string_view setting, std::string_view what) const {
  if (folder_.empty()) return nullptr;
  const auto text = read_file(path(setting, what), kDocumentLimits);
  if (!text) return nullptr;
  nlohmann::json result = parse_json(*text);
  return result.is_discarded() ? nlohmann::json() : result;
}

Result<void> SuiteCache::keep(std::string_view setting, std::string_view what,
                              const nlohmann::json& result) const {
  if (folder_.empty()) return {};
  return write_file(path(setting, what), result.dump() + "\n");
}

}  // namespace smartmig
