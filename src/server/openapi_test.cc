// The server and web/openapi.json say the same: every operation is called, by everybody, and every
// answer is checked against its schema.
#include <gtest/gtest.h>

#include <map>

#include "server/test_openapi.h"

namespace smartmig {
namespace {

using nlohmann::json;

// A path that exists in the fake backend.
std::string path_of(const Operation& operation) {
  std::string path = operation.pattern;
  const auto at = path.find("{id}");
  if (at == std::string::npos) return path;
  // A style, GPU 0, decision 1, or the job that runs.
  if (path.starts_with("/web/")) return path.replace(at, 4, "report.css");
  const bool gpu = path.find("gpu") != std::string::npos;
  const bool decision = path.find("decisions") != std::string::npos;
  return path.replace(at, 4, gpu ? "0" : decision ? "1" : "2");
}

std::string body_of(const Operation& operation) {
  static const std::map<std::string, std::string> kBodies = {
      {"/api/v1/jobs",
       R"({"profile":"bert-training","work_s":60,"deadline_s":90,"key":"k","command":["x"]})"},
      {"/api/v1/apply", R"({"layouts":{"0":"4-2-1"}})"},
      {"/api/v1/rollback", R"({"gpu":"0"})"},
      {"/api/v1/power-cap", R"({"watts":2000})"}};
  if (operation.method != "POST") return "";
  const auto found = kBodies.find(operation.pattern);
  return found == kBodies.end() ? "{}" : found->second;
}

TEST(OpenApi, NamesEveryRouteAndNoOther) {
  std::map<std::string, std::string> ours, theirs;
  for (const Route& route : routes())
    ours[fmt::format("{} {}", route.method, route.pattern)] = to_string(route.role);
  for (const Operation& operation : operations())
    theirs[operation.method + " " + operation.pattern] = operation.description.at("x-role");
  EXPECT_EQ(ours, theirs);
  EXPECT_GT(ours.size(), 30u);
}

TEST(OpenApi, EveryReferenceLeadsSomewhereAndEveryNameIsUsedOnce) {
  const SchemaCheck check(document());
  std::set<std::string> names;
  for (const Operation& operation : operations())
    EXPECT_TRUE(names.insert(operation.description.at("operationId")).second);
  const std::function<void(const json&)> walk = [&](const json& item) {
    if (item.is_object() && item.contains("$ref")) check.followed(item);  // Throws where not.
    for (const json& inner : item)
      if (inner.is_structured()) walk(inner);
  };
  walk(document());
}

TEST(OpenApi, EveryOperationAnswersAsItSays) {
  TestSite site{TestSite::WithTokens{}};
  const SchemaCheck check(document());
  for (const Operation& operation : operations()) {
    SCOPED_TRACE(operation.method + " " + operation.pattern);
    if (is_stream(operation)) continue;  // events_test.cc
    const std::string body = body_of(operation);
    if (operation.method == "POST") {
      const json& content = operation.description.at("requestBody").at("content");
      EXPECT_EQ(check.check(content.at("application/json").at("schema"), json::parse(body)), "");
    }
    const Reply reply =
        site.call(operation.method, path_of(operation), body, TestSite::with(kOperateToken));
    EXPECT_LT(reply.status, 300) << reply.body;
    EXPECT_GT(reply.status, 0);
    expect_documented(operation, reply);
  }
}

TEST(OpenApi, EveryOperationRefusesAsItSays) {
  TestSite site{TestSite::WithTokens{}};
  for (const Operation& operation : operations()) {
    SCOPED_TRACE(operation.method + " " + operation.pattern);
    const std::string path = path_of(operation);
    const auto token = TestSite::with(kOperateToken);
    const auto expect = [&](int status, const Reply& reply) {
      EXPECT_EQ(reply.status, status) << reply.body;
      expect_documented(operation, reply);
    };
    auto foreign = token;
    foreign.emplace("Host", "evil.example");
    expect(403, site.call(operation.method, path, body_of(operation), foreign));
    expect(405, site.call("PATCH", path, "", token));
    if (path != "/healthz" && path != "/readyz" && path.find('.') == std::string::npos &&
        path != "/")
      expect(400, site.call(operation.method, path + "?nonsense=1", body_of(operation), token));
    if (path != operation.pattern) {
      std::string absent = operation.pattern;
      absent.replace(absent.find("{id}"), 4, "777");
      expect(404, site.call(operation.method, absent, body_of(operation), token));
    }
    if (operation.method == "POST") {
      auto form = token;
      form.emplace("Content-Type", "text/plain");
      expect(415, site.call("POST", path, body_of(operation), form));
      expect(413, site.call("POST", path, std::string(kMaxBodyBytes + 1, ' '), token));
      if (path != "/session") {
        expect(400, site.call("POST", path, "{", token));
        expect(400, site.call("POST", path, R"({"nonsense":1})", token));
        expect(400, site.call("POST", path, "[]", token));
      }
    }
  }
}

TEST(OpenApi, EachRoleIsRefusedWhatItMayNotDo) {
  ServerOptions options;
  options.wrong_tokens_per_s = 0;  // There are many here.
  TestSite site(TestSite::WithTokens{}, options);
  const std::map<std::string, int> rank = {
      {"nobody", 0}, {"read", 1}, {"submit", 2}, {"operate", 3}};
  const std::vector<std::pair<const char*, int>> tokens = {
      {kReadToken, 1}, {kSubmitToken, 2}, {kOperateToken, 3}};
  for (const Operation& operation : operations()) {
    SCOPED_TRACE(operation.method + " " + operation.pattern);
    const int needed = rank.at(operation.description.at("x-role"));
    const std::string path = path_of(operation);
    if (needed > 0) {
      for (const auto& headers :
           {httplib::Headers{}, TestSite::with("wrong-token-0123456789"),
            httplib::Headers{{"Authorization", std::string("Basic ") + kOperateToken}},
            httplib::Headers{{"Cookie", "smartmig_session=0123456789abcdef"}}}) {
        const Reply reply = site.call(operation.method, path, body_of(operation), headers);
        EXPECT_EQ(reply.status, 401);
        expect_documented(operation, reply);
      }
    }
    for (const auto& [token, has] : tokens) {
      if (has >= needed) continue;
      const Reply reply =
          site.call(operation.method, path, body_of(operation), TestSite::with(token));
      EXPECT_EQ(reply.status, 403) << token;
      expect_documented(operation, reply);
    }
  }
  EXPECT_TRUE(site.backend.asked().empty());
  EXPECT_EQ(site.backend.job_count(), 3u);
}

}  // namespace
}  // namespace smartmig
