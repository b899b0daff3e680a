#include "server/query.h"

#include <algorithm>
#include <vector>

#include "base/text.h"

namespace smartmig {

Query::Query(const Parameters& parameters, std::initializer_list<std::string_view> known)
    : parameters_(parameters) {
  const std::vector<std::string> names(known.begin(), known.end());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const std::string& name = parameters[i].first;
    if (std::find(names.begin(), names.end(), name) == names.end())
      refuse(name, fmt::format("unknown parameter {}{}", in_quotes(name), suggestion(name, names)));
    for (std::size_t k = 0; k < i; ++k)
      if (parameters[k].first == name) refuse(name, "the parameter stands twice");
    if (refusal_) return;
  }
}

const std::string* Query::find(std::string_view name) const {
  for (const auto& [key, value] : parameters_)
    if (key == name) return &value;
  return nullptr;
}

void Query::refuse(std::string_view name, std::string error) {
  if (!refusal_) refusal_ = Refusal{400, std::move(error), std::string(name)};
}

std::string Query::text(std::string_view name) {
  const std::string* found = find(name);
  return found ? *found : std::string();
}

std::int64_t Query::integer(std::string_view name, std::int64_t low, std::int64_t high,
                            std::int64_t fallback) {
  const std::string* found = find(name);
  if (!found) return fallback;
  const auto number = parse_integer(*found);
  if (number && *number >= low && *number <= high) return *number;
  refuse(name, fmt::format("found {}, expected a whole number from {} to {}", in_quotes(*found),
                           low, high));
  return fallback;
}

bool Query::flag(std::string_view name, bool fallback) {
  const std::string* found = find(name);
  if (!found) return fallback;
  if (*found == "1" || *found == "true") return true;
  if (*found == "0" || *found == "false") return false;
  refuse(name, fmt::format("found {}, expected true or false", in_quotes(*found)));
  return fallback;
}

}  // namespace smartmig
