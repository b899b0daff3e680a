#include "server/http.h"

#include <gtest/gtest.h>

#include "server/json_writer.h"
#include "server/query.h"

namespace smartmig {
namespace {

int status_of(std::string_view head) {
  const auto request = parse_head(head);
  return request ? 200 : request.error().status;
}

TEST(Http, ReadsAHead) {
  const auto request = parse_head(
      "POST /api/v1/jobs/a%2Fb?x=1&y=a%20b+c&z HTTP/1.1\r\nHost: here:80\r\nContent-Length: 12\r\n"
      "X-Blank: \t v \t\r\n\r\n");
  ASSERT_TRUE(request);
  EXPECT_EQ(request->method, "POST");
  EXPECT_EQ(request->path, "/api/v1/jobs/a%2Fb");
  EXPECT_EQ(request->segments, (std::vector<std::string>{"api", "v1", "jobs", "a/b"}));
  EXPECT_EQ(request->query, (Parameters{{"x", "1"}, {"y", "a b c"}, {"z", ""}}));
  EXPECT_EQ(request->header("host"), "here:80");
  EXPECT_EQ(request->header("x-blank"), "v");
  EXPECT_EQ(request->content_length, 12u);
  EXPECT_TRUE(request->keep_alive);
}

TEST(Http, KeepsAConnectionAsTheHeaderSays) {
  EXPECT_TRUE(parse_head("GET / HTTP/1.1\r\n\r\n")->keep_alive);
  EXPECT_FALSE(parse_head("GET / HTTP/1.1\r\nConnection: x, Close\r\n\r\n")->keep_alive);
  EXPECT_TRUE(parse_head("GET / HTTP/1.1\r\nConnection: keep-alive\r\n\r\n")->keep_alive);
}

TEST(Http, APostHasALength) {
  EXPECT_EQ(status_of("POST / HTTP/1.1\r\n\r\n"), 411);
  EXPECT_EQ(status_of("POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n"), 200);
  EXPECT_EQ(status_of("DELETE / HTTP/1.1\r\n\r\n"), 200);
}

TEST(Http, FindsTheEndOfAHeadAndLinesWithoutCr) {
  using Found = HeadEnd::Found;
  const std::string head = "GET / HTTP/1.1\r\nA: b\r\n\r\n";
  EXPECT_EQ(find_head_end(head + "body\n", 0).size, head.size());
  for (std::size_t size = 0; size < head.size(); ++size)
    EXPECT_EQ(find_head_end(head.substr(0, size), 0).found, Found::kNothing) << size;
  for (std::size_t searched = 0; searched < head.size(); ++searched)
    EXPECT_EQ(find_head_end(head, searched).size, head.size()) << searched;
  EXPECT_EQ(find_head_end("GET / HTTP/1.1\nA: b\r\n\r\n", 0).found, Found::kBareLf);
  EXPECT_EQ(find_head_end("GET / HTTP/1.1\r\n\n", 0).found, Found::kBareLf);
  EXPECT_EQ(find_head_end("\n", 0).found, Found::kBareLf);
}

TEST(Http, RefusesWhatTwoReadersCouldReadInTwoWays) {
  EXPECT_EQ(status_of("POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"), 400);
  EXPECT_EQ(status_of("POST / HTTP/1.1\r\nContent-Length: +1\r\n\r\n"), 400);
  EXPECT_EQ(status_of("POST / HTTP/1.1\r\nContent-Length: 1, 1\r\n\r\n"), 400);
  EXPECT_EQ(status_of("POST / HTTP/1.1\r\nContent-Length:\r\n\r\n"), 400);
  EXPECT_EQ(status_of("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"), 411);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost : a\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nA: b\r\n folded\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET / HTTP/1.1\nHost: a\n\n"), 400);
  EXPECT_EQ(status_of(std::string_view("GET / HTTP/1.1\r\nA: b\0c\r\n\r\n", 28)), 400);
}

TEST(Http, RefusesWhatIsNoRequest) {
  for (const char* line :
       {"", "GET", "GET /", "GET  / HTTP/1.1", "GET / FTP/1.1", "G@T / HTTP/1.1",
        "GET http://x/ HTTP/1.1", "GET /a b HTTP/1.1", "GET /%zz HTTP/1.1", "GET /%0a HTTP/1.1",
        "GET /%4 HTTP/1.1", "GET /?a=%00 HTTP/1.1", "GET /#a HTTP/1.1", "GET * HTTP/1.1"})
    EXPECT_EQ(status_of(fmt::format("{}\r\n\r\n", line)), 400) << line;
  for (const char* version : {"HTTP/1.0", "HTTP/2.0", "HTTP/1.2", "HTTP/0.9"})
    EXPECT_EQ(status_of(fmt::format("GET / {}\r\n\r\n", version)), 505) << version;
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: a\r\n"), 400);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\n\r\nrest"), 400);
}

TEST(Http, KeepsToItsLimits) {
  EXPECT_EQ(status_of(fmt::format("GET /{} HTTP/1.1\r\n\r\n", std::string(kMaxTargetBytes, 'a'))),
            414);
  std::string many = "GET / HTTP/1.1\r\n";
  for (std::size_t i = 0; i < kMaxHeaders; ++i) many += "a: b\r\n";
  EXPECT_EQ(status_of(fmt::format("{}\r\n", many)), 200);
  EXPECT_EQ(status_of(fmt::format("{}a: b\r\n\r\n", many)), 431);
  EXPECT_EQ(
      status_of(fmt::format("GET / HTTP/1.1\r\na: {}\r\n\r\n", std::string(kMaxHeadBytes, 'a'))),
      431);
  EXPECT_EQ(status_of(fmt::format("GET / HTTP/1.1\r\nContent-Length: {}\r\n\r\n", kMaxBodyBytes)),
            200);
  EXPECT_EQ(
      status_of(fmt::format("GET / HTTP/1.1\r\nContent-Length: {}\r\n\r\n", kMaxBodyBytes + 1)),
      413);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n"), 400);
}

TEST(Query, ReadsWhatIsKnownAndRefusesTheRest) {
  const Parameters given = {{"limit", "7"}, {"on", "true"}};
  Query good(given, {"limit", "on", "off"});
  EXPECT_EQ(good.integer("limit", 1, 10, 3), 7);
  EXPECT_TRUE(good.flag("on", false));
  EXPECT_FALSE(good.flag("off", false));
  EXPECT_FALSE(good.refusal());
  const auto field = [](const Parameters& bad) {
    Query query(bad, {"limit", "on"});
    query.integer("limit", 1, 10, 3);
    query.flag("on", false);
    return query.refusal().value_or(Refusal{400, "", "none"}).field;
  };
  EXPECT_EQ(field({{"limit", "11"}}), "limit");
  EXPECT_EQ(field({{"limit", "x"}}), "limit");
  EXPECT_EQ(field({{"limit", ""}}), "limit");
  EXPECT_EQ(field({{"on", "yes"}}), "on");
  EXPECT_EQ(field({{"no", "1"}}), "no");
  EXPECT_EQ(field({{"on", "1"}, {"on", "1"}}), "on");
}

TEST(JsonWriter, WritesWhatAReaderReadsBack) {
  std::string out;
  JsonWriter json(out);
  json.begin_object();
  json.field("text", std::string_view("a\"\\\n\x7f\xc3\xa4\xff\xed\xa0\x80\xf0\x9f\x98\x80"));
  json.field("number", 0.1);
  json.field("none", 1.0 / 0.0);
  json.time("time", 1'500'000);
  json.time("before", -1);
  json.seconds("tiny", 1);
  json.id("id", 7);
  json.id("no_id", 0);
  json.begin_array("list");
  json.value(1);
  json.begin_array();
  json.end_array();
  json.value(true);
  json.end_array();
  json.end_object();
  EXPECT_EQ(out,
            "{\"text\":\"a\\\"\\\\\\u000a\\u007f\xc3\xa4????\xf0\x9f\x98\x80\",\"number\":0.1,"
            "\"none\":null,\"time\":1.5,\"before\":null,\"tiny\":0.000001,\"id\":\"7\","
            "\"no_id\":null,\"list\":[1,[],true]}");
}

}  // namespace
}  // namespace smartmig
