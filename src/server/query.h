// The parameters of a request's query, checked: every name must be known and stand once. The first
// thing wrong is kept; getters answer their fallback from then on, so that a handler reads straight
// through and asks for the error at the end.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "server/http.h"

namespace smartmig {

class Query {
 public:
  Query(const Parameters& parameters, std::initializer_list<std::string_view> known);

  std::string text(std::string_view name);  // Absent: empty.
  bool has(std::string_view name) const { return find(name) != nullptr; }
  std::int64_t integer(std::string_view name, std::int64_t low, std::int64_t high,
                       std::int64_t fallback);
  bool flag(std::string_view name, bool fallback);  // 1, true, 0, false

  void refuse(std::string_view name, std::string error);
  const std::optional<Refusal>& refusal() const { return refusal_; }

 private:
  const std::string* find(std::string_view name) const;
  const Parameters& parameters_;
  std::optional<Refusal> refusal_;
};

}  // namespace smartmig
