// web/openapi.json for tests: its operations, and whether an answer is one that it has.
#pragma once

#include <string>
#include <vector>

#include "base/shipped.h"
#include "server/test_schema.h"
#include "server/test_site.h"

namespace smartmig {

struct Operation {
  std::string method;   // "GET"
  std::string pattern;  // "/api/v1/jobs/{id}"
  nlohmann::json description;
};

inline const nlohmann::json& document() {
  static const nlohmann::json kDocument = nlohmann::json::parse(shipped_file("openapi.json"));
  return kDocument;
}

inline std::vector<Operation> operations() {
  std::vector<Operation> out;
  for (const auto& [pattern, methods] : document().at("paths").items())
    for (const auto& [method, description] : methods.items()) {
      std::string upper = method;
      for (char& c : upper) c = static_cast<char>(std::toupper(c));
      out.push_back({upper, pattern, description});
    }
  return out;
}

// The answer is one that the document has for this operation.
inline void expect_documented(const Operation& operation, const Reply& reply) {
  using nlohmann::json;
  const SchemaCheck check(document());
  const std::string status = std::to_string(reply.status);
  const json& responses = operation.description.at("responses");
  ASSERT_TRUE(responses.contains(status)) << reply.status << " " << reply.body;
  const json& response = check.followed(responses.at(status));
  const json headers = response.value("headers", json::object());
  for (const auto& [name, unused] : headers.items())
    EXPECT_TRUE(name == "Set-Cookie" || reply.header(name) != "") << name;
  if (!response.contains("content")) {
    EXPECT_EQ(reply.body, "");
    return;
  }
  const std::string given = reply.header("Content-Type");
  const std::string type = given.substr(0, given.find(';'));
  ASSERT_TRUE(response.at("content").contains(type)) << type;
  if (type == "application/yaml") return;  // Which tests/api reads and holds to its schema.
  const json& content = response.at("content").at(type);
  const json value = type == "application/json" ? reply.json() : json(reply.body);
  EXPECT_EQ(check.check(content.at("schema"), value), "") << reply.body;
}

inline bool is_stream(const Operation& operation) { return operation.pattern == "/api/v1/events"; }

}  // namespace smartmig
