#include "server/server.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "server/test_site.h"

namespace smartmig {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

constexpr const char* kJob = R"({"profile":"bert-training","work_s":60,"deadline_s":90})";

std::string error_of(ServerOptions options) {
  FakeBackend backend;
  if (options.port == 8080) options.port = 0;
  Server server(std::move(options), backend);
  const auto started = server.start();
  return started ? "" : started.error().message;
}

TEST(Server, RefusesToStartOpenlyWhereOthersCouldReachIt) {
  const TempFolder folder;
  const std::string tokens = folder.write("tokens", token_lines());
  ServerOptions options;
  EXPECT_EQ(error_of(options), "");
  options.address = "localhost";
  EXPECT_EQ(error_of(options), "");
  options.address = "0.0.0.0";
  EXPECT_EQ(error_of(options),
            "0.0.0.0, which is no loopback address, needs TLS and tokens: add --tls-cert FILE "
            "--tls-key FILE --token-file FILE");
  options.token_file = tokens;
  EXPECT_EQ(error_of(options),
            "0.0.0.0, which is no loopback address, needs TLS and tokens: add --tls-cert FILE "
            "--tls-key FILE");
  options.address = "127.0.0.1";
  EXPECT_EQ(error_of(options), "");
  options.simulated = false;
  EXPECT_EQ(error_of(options),
            "a fleet that is not simulated needs TLS and tokens: add --tls-cert FILE --tls-key "
            "FILE");
  options.tls_key_file = "key";
  EXPECT_EQ(error_of(options), "TLS needs both --tls-cert FILE and --tls-key FILE");
  options.tls_certificate_file = folder.path() + "/absent.pem";
  EXPECT_NE(error_of(options).find("absent.pem"), std::string::npos);
}

TEST(Server, SaysThatAPortIsTaken) {
  TestSite site;
  ServerOptions options;
  options.port = site.port();
  EXPECT_EQ(error_of(options),
            fmt::format("cannot listen on 127.0.0.1:{}: Address already in use", site.port()));
}

TEST(Server, SubmitsOnceForEachKey) {
  TestSite site;
  const std::string body = R"({"profile":"bert-training","work_s":60,"deadline_s":90,"key":"k"})";
  const Reply first = site.call("POST", "/api/v1/jobs", body);
  EXPECT_EQ(first.status, 201);
  EXPECT_EQ(first.json(), (json{{"id", "4"}}));
  const Reply again = site.call("POST", "/api/v1/jobs", body);
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(again.json(), first.json());
  const Reply other =
      site.call("POST", "/api/v1/jobs",
                R"({"profile":"bert-training","work_s":61,"deadline_s":90,"key":"k"})");
  EXPECT_EQ(other.status, 409);
  EXPECT_EQ(other.json().at("field"), "key");
  site.backend.full_disk_ = true;
  EXPECT_EQ(site.call("POST", "/api/v1/jobs", kJob).status, 503);
}

TEST(Server, ADryRunChangesNothing) {
  TestSite site;
  const Reply job = site.call("POST", "/api/v1/jobs?dry_run=1", kJob);
  EXPECT_EQ(job.status, 200);
  EXPECT_EQ(job.json(), (json{{"id", nullptr}}));
  EXPECT_EQ(site.call("POST", "/api/v1/jobs?dry_run=1", "{}").status, 400);
  EXPECT_EQ(site.call("DELETE", "/api/v1/jobs/3?dry_run=true").status, 200);
  EXPECT_EQ(site.call("DELETE", "/api/v1/jobs/1?dry_run=true").status, 409);
  EXPECT_EQ(site.call("DELETE", "/api/v1/jobs/9?dry_run=true").status, 404);
  EXPECT_EQ(site.call("DELETE", "/api/v1/jobs/3?dry_run=maybe").status, 400);
  EXPECT_TRUE(site.backend.asked().empty());
  EXPECT_EQ(site.backend.job_count(), 3u);
  site.call("POST", "/api/v1/freeze?dry_run=true", "{}");
  EXPECT_EQ(site.backend.asked(), (std::vector<std::string>{"local 0 gpu= watts=0 dry"}));
}

TEST(Server, ShowsJobsWithWhatIsExpectedOfThem) {
  TestSite site;
  const json done = site.call("GET", "/api/v1/jobs/1").json();
  EXPECT_EQ(done.at("state"), "done");
  EXPECT_EQ(done.at("late_s"), 5.5);
  EXPECT_EQ(done.at("expected_end_s"), nullptr);
  EXPECT_EQ(done.at("submit_s"), 1.000001);
  const json running = site.call("GET", "/api/v1/jobs/2").json();
  EXPECT_EQ(running.at("expected_end_s"), 70);
  EXPECT_EQ(running.at("late_s"), 9);
  EXPECT_EQ(running.at("command"), (json{"a", "b"}));
  const json queued = site.call("GET", "/api/v1/jobs/3").json();
  EXPECT_EQ(queued.at("expected_start_s"), 20);
  EXPECT_EQ(queued.at("late_s"), 19);
  EXPECT_EQ(queued.at("start_s"), nullptr);
}

TEST(Server, ListsJobsPageByPage) {
  TestSite site;
  const json first = site.call("GET", "/api/v1/jobs?limit=2").json();
  EXPECT_EQ(first.at("jobs").size(), 2u);
  EXPECT_EQ(first.at("next"), "2");
  const json second = site.call("GET", "/api/v1/jobs?limit=2&after=2").json();
  EXPECT_EQ(second.at("jobs").size(), 1u);
  EXPECT_EQ(second.at("next"), nullptr);
  EXPECT_EQ(site.call("GET", "/api/v1/jobs?state=queued").json().at("jobs").size(), 1u);
  for (const char* bad :
       {"state=nonsense", "state=", "limit=0", "limit=10001", "limit=x", "after=-1"}) {
    const Reply reply = site.call("GET", fmt::format("/api/v1/jobs?{}", bad));
    EXPECT_EQ(reply.status, 400) << bad;
    EXPECT_EQ(reply.json().at("field"), std::string(bad).substr(0, std::string(bad).find('=')));
  }
  site.backend.broken_journal_ = true;
  EXPECT_EQ(site.call("GET", "/api/v1/jobs").status, 500);
}

TEST(Server, DecisionsComeNewestFirst) {
  TestSite site;
  const json page = site.call("GET", "/api/v1/decisions?limit=2").json();
  EXPECT_EQ(page.at("decisions").at(0).at("id"), "5");
  EXPECT_EQ(page.at("decisions").at(0).at("reasons"), (json{"one", "two"}));
  EXPECT_EQ(page.at("next"), "4");
  EXPECT_EQ(site.call("GET", "/api/v1/decisions?before=2").json().at("next"), nullptr);
}

TEST(Server, CommandsReachTheControllerAsTheyWereMeant) {
  TestSite site{TestSite::WithTokens{}};
  const auto token = TestSite::with(kOperateToken);
  site.call("POST", "/api/v1/gpus/1/drain", "{}", token);
  site.call("POST", "/api/v1/power-cap", R"({"watts":1500})", token);
  site.call("POST", "/api/v1/apply", R"({"layouts":{"0":"4-3","1":"7"}})", token);
  site.call("POST", "/api/v1/apply", "", token);
  site.call("POST", "/api/v1/apply", R"({"layouts":{"0":"4-3"},"hold":true})", token);
  site.call("POST", "/api/v1/gpus/1/unhold", "{}", token);
  using Kind = Command::Kind;
  const auto line = [](Kind kind, std::string_view rest) {
    return fmt::format("carol {} {}", static_cast<int>(kind), rest);
  };
  EXPECT_EQ(
      site.backend.asked(),
      (std::vector<std::string>{
          line(Kind::kDrain, "gpu=1 watts=0"), line(Kind::kPowerCap, "gpu= watts=1500"),
          line(Kind::kApply, "gpu= watts=0 0=4-3 1=7"), line(Kind::kApply, "gpu= watts=0"),
          line(Kind::kApply, "gpu= watts=0 hold 0=4-3"), line(Kind::kUnhold, "gpu=1 watts=0")}));
  for (const char* bad : {R"({"layouts":{}})", R"({"layouts":[]})", R"({"layouts":{"0":4}})",
                          R"({"layouts":{"":"7"}})", R"({"gpu":"0"})", R"({"hold":true})",
                          R"({"layouts":{"0":"7"},"hold":1})"})
    EXPECT_EQ(site.call("POST", "/api/v1/apply", bad, token).status, 400) << bad;
  for (const char* bad : {"{}", R"({"watts":-1})", R"({"watts":"1"})", R"({"watts":1e300})"})
    EXPECT_EQ(site.call("POST", "/api/v1/power-cap", bad, token).json().at("field"), "watts");
  EXPECT_EQ(site.call("POST", "/api/v1/gpus/9/drain", "{}", token).status, 404);
}

TEST(Server, SubmittersCancelTheirOwnJobsOnly) {
  TestSite site{TestSite::WithTokens{}};
  EXPECT_EQ(site.call("DELETE", "/api/v1/jobs/2", "", TestSite::with(kOtherSubmitToken)).status,
            403);
  EXPECT_EQ(
      site.call("DELETE", "/api/v1/jobs/2?dry_run=1", "", TestSite::with(kOtherSubmitToken)).status,
      403);
  // Job 2 runs, and is cancelled once its run has ended; job 3 waits.
  const json ordered =
      site.call("DELETE", "/api/v1/jobs/2", "", TestSite::with(kSubmitToken)).json();
  EXPECT_EQ(ordered.at("cancelled"), false);
  EXPECT_EQ(ordered.at("lines"), (json{"job 2 is being cancelled: its run is told to end"}));
  const json done = site.call("DELETE", "/api/v1/jobs/3", "", TestSite::with(kOperateToken)).json();
  EXPECT_EQ(done.at("cancelled"), true);
  EXPECT_EQ(done.at("lines"), (json{"job 3 is cancelled"}));
  EXPECT_EQ(site.backend.asked(), (std::vector<std::string>{"alice cancel 2", "carol cancel 3"}));
  EXPECT_EQ(site.call("POST", "/api/v1/jobs", kJob, TestSite::with(kSubmitToken)).status, 201);
  EXPECT_EQ(site.call("GET", "/api/v1/jobs/4", "", TestSite::with(kReadToken)).json().at("owner"),
            "alice");
}

TEST(Server, RehearsingAPolicyTakesAnOperator) {
  TestSite site{TestSite::WithTokens{}};
  EXPECT_EQ(site.call("GET", "/api/v1/plan", "", TestSite::with(kReadToken)).status, 200);
  EXPECT_EQ(
      site.call("GET", "/api/v1/plan?policy=none/edf", "", TestSite::with(kSubmitToken)).status,
      403);
  EXPECT_EQ(site.call("GET", "/api/v1/plan?policy=none/edf", "", TestSite::with(kOperateToken))
                .json()
                .at("policy"),
            "none/edf");
  EXPECT_EQ(
      site.call("GET", "/api/v1/plan?policy=nonsense", "", TestSite::with(kOperateToken)).status,
      400);
}

TEST(Server, RefusesForeignHostsAndOrigins) {
  TestSite site;
  const std::string here = fmt::format("127.0.0.1:{}", site.port());
  const auto from = [&](const std::string& origin) {
    return site.call("POST", "/api/v1/jobs", kJob, {{"Origin", origin}}).status;
  };
  EXPECT_EQ(from("http://" + here), 201);
  const std::vector<std::string> foreign = {"http://evil.example", "null",
                                            fmt::format("https://{}", here), "http://127.0.0.1:1",
                                            fmt::format("http://localhost:{}", site.port())};
  for (const std::string& origin : foreign) EXPECT_EQ(from(origin), 403) << origin;
  EXPECT_EQ(site.call("GET", "/api/v1/fleet", "", {{"Host", "evil.example"}}).status, 403);
  EXPECT_EQ(site.call("DELETE", "/api/v1/jobs/3", "", {{"Origin", "http://evil.example"}}).status,
            403);
  // Reading does no harm, and no other page may see what was read: no CORS header says so.
  const Reply read = site.call("GET", "/api/v1/fleet", "", {{"Origin", "http://evil.example"}});
  EXPECT_EQ(read.status, 200);
  for (const auto& [name, value] : read.headers)
    EXPECT_NE(name.substr(0, 14), "Access-Control") << name;
  EXPECT_EQ(site.raw("GET / HTTP/1.1\r\nConnection: close\r\n\r\n").substr(9, 3), "400");
  EXPECT_EQ(site.backend.job_count(), 4u);
}

TEST(Server, TakesANameItWasGiven) {
  ServerOptions options;
  options.host_names = {"sched.example"};
  TestSite site(options);
  EXPECT_EQ(site.call("GET", "/healthz", "", {{"Host", "sched.example"}}).status, 200);
}

TEST(Server, TakesJsonBodiesOnly) {
  TestSite site;
  for (const char* type : {"text/plain", "application/x-www-form-urlencoded", "multipart/form-data",
                           "application/jsonx"})
    EXPECT_EQ(site.call("POST", "/api/v1/jobs", kJob, {{"Content-Type", type}}).status, 415)
        << type;
  EXPECT_EQ(
      site.call("POST", "/api/v1/jobs", kJob, {{"Content-Type", "Application/JSON; charset=utf-8"}})
          .status,
      201);
  EXPECT_EQ(site.raw("POST /api/v1/freeze HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                     "Content-Length: 0\r\n\r\n")
                .substr(9, 3),
            "415");
}

TEST(Server, RefusesWhatIsTooLargeAndWhatIsNoRequest) {
  TestSite site;
  const auto status = [&](const std::string& bytes) { return site.raw(bytes).substr(9, 3); };
  const std::string head =
      "POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
  EXPECT_EQ(status(head + "Content-Length: 65537\r\n\r\n" + std::string(65537, 'x')), "413");
  EXPECT_EQ(status(head + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), "411");
  EXPECT_EQ(status("GET / HTTP/1.1\r\n" + std::string(20'000, 'x')), "431");
  EXPECT_EQ(status("nonsense\r\n\r\n"), "400");
  EXPECT_EQ(status("GET / HTTP/3.0\r\n\r\n"), "505");
  EXPECT_EQ(status("GET / HTTP/1.0\r\nHost: localhost\r\n\r\n"), "505");
  EXPECT_EQ(status(head + "\r\n"), "411");
  // At once, not when the time for a whole request is over.
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(status("GET / HTTP/1.1\nHost: localhost\n\n"), "400");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
  EXPECT_EQ(status("GET /" + std::string(5000, 'x') + " HTTP/1.1\r\n\r\n"), "414");
  for (const char* body : {"", "{", "[1]", "nul", "{\"profile\":1}", "{\"a\":", "\xff\xfe"}) {
    const Reply reply = site.call("POST", "/api/v1/jobs", body);
    EXPECT_EQ(reply.status, 400) << body;
    EXPECT_TRUE(reply.json().contains("error") && reply.json().contains("field")) << reply.body;
  }
  EXPECT_EQ(site.call("POST", "/api/v1/jobs", std::string(60'000, '[')).status, 400);
}

TEST(Server, AnswersSeveralRequestsOfOneConnectionInTheirOrder) {
  TestSite site;
  const std::string answers = site.raw(
      "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
      "POST /api/v1/freeze HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      "Content-Length: 2\r\n\r\n{}"
      "GET /nowhere HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  const auto first = answers.find("alive"), second = answers.find("lines"),
             third = answers.find("nowhere");
  EXPECT_LT(first, second);
  EXPECT_LT(second, third);
  EXPECT_NE(third, std::string::npos);
}

TEST(Server, SaysToGoOnToAClientThatAsks) {
  TestSite site;
  RawClient client(site.port());
  client.send(
      "POST /api/v1/freeze HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      "Expect: 100-continue\r\nContent-Length: 2\r\nConnection: close\r\n\r\n");
  EXPECT_NE(client.read_until("100 Continue").find("100 Continue"), std::string::npos);
  client.send("{}");
  EXPECT_NE(client.read_all().find("200 OK"), std::string::npos);
}

TEST(Server, PathsDoNotEscape) {
  TestSite site;
  for (const char* path :
       {"/../etc/passwd", "/..%2f..%2fetc%2fpasswd", "/%2e%2e/%2e%2e/etc/passwd",
        "/web/report.css/..", "//etc/passwd", "/web/./report.css", "/web/../../boards.json",
        "/web/boards.json", "/web/report.css%2f", "/web/smartmig.safetensors", "/..\\..\\etc",
        "/%2e", "/web/%2e%2e", "/api/v1/../../metrics", "/web/report.css/", "/web/",
        "/web/index.html", "/web/..%2findex.html"})
    EXPECT_EQ(site.call("GET", path).status, 404) << path;
  EXPECT_EQ(site.call("GET", "/web/report.css%00.html").status, 400);
  const Reply page = site.call("GET", "/");
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.header("Content-Security-Policy").substr(0, 18), "default-src 'self'");
  EXPECT_EQ(page.header("X-Content-Type-Options"), "nosniff");
  EXPECT_EQ(page.body.find("<script>"), std::string::npos);
}

TEST(Server, LimitsTheRateOfAClient) {
  ServerOptions options;
  options.requests_per_s = 5;
  options.limit_loopback = true;
  TestSite site(options);
  int refused = 0;
  for (int i = 0; i < 20; ++i) {
    const Reply reply = site.call("GET", "/healthz");
    if (reply.status != 429) continue;
    ++refused;
    EXPECT_EQ(reply.header("Retry-After"), "1");
    EXPECT_NE(reply.error(), "");
  }
  EXPECT_GT(refused, 5);
  // A flood leaves a line a second.
  EXPECT_LE(site.lines().size(), 5u);
  TestSite free;
  for (int i = 0; i < 300; ++i) ASSERT_EQ(free.call("GET", "/healthz").status, 200);
}

// On loopback too, where other requests are not counted.
TEST(Server, LimitsGuessesOfTokens) {
  ServerOptions options;
  options.wrong_tokens_per_s = 3;
  TestSite site(TestSite::WithTokens{}, options);
  const auto status = [&](const std::string& token) {
    return site.call("GET", "/api/v1/fleet", "", TestSite::with(token.c_str())).status;
  };
  int refused = 0, limited = 0;
  for (int i = 0; i < 60; ++i) {
    const int got = status(fmt::format("guess-0123456789-{}", i));
    refused += got == 401;
    limited += got == 429;
  }
  EXPECT_EQ(refused + limited, 60);
  EXPECT_GE(refused, 3);
  EXPECT_GE(limited, 20);
  const Reply waits = site.call("GET", "/api/v1/fleet", "", TestSite::with("guess-0123456789-z"));
  EXPECT_TRUE(waits.status == 401 || waits.header("Retry-After") == "1");
  // Who has no token guesses nothing, and who guesses no more is served again.
  EXPECT_EQ(site.call("GET", "/healthz").status, 200);
  EXPECT_EQ(site.call("GET", "/api/v1/fleet").status, 401);
  int right = 0;
  for (int i = 0; i < 100 && right != 200; ++i) {
    std::this_thread::sleep_for(20ms);
    right = status(kReadToken);
  }
  EXPECT_EQ(right, 200);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(status(kReadToken), 200);
}

// What cannot be read as a request counts as one.
TEST(Server, LimitsTheRateOfWhatIsNoRequest) {
  ServerOptions options;
  options.requests_per_s = 5;
  options.limit_loopback = true;
  TestSite site(options);
  int refused = 0;
  for (int i = 0; i < 40; ++i) refused += site.raw("nonsense\r\n\r\n").starts_with("HTTP/1.1 429");
  EXPECT_GT(refused, 20);
  EXPECT_LE(site.lines().size(), 15u);
}

TEST(Server, ALogThatCannotBeWrittenIsNoReasonToStop) {
  ServerOptions options;
  std::atomic<bool> throws = true;
  options.log = [&](const std::string&) {
    if (throws) throw std::runtime_error("no room");
  };
  FakeBackend backend;
  options.port = 0;
  Server server(options, backend);
  ASSERT_TRUE(server.start().has_value());
  {
    RawClient client(server.port());
    client.send("nonsense\r\n\r\n");
    client.read_all();
    EXPECT_TRUE(client.at_end());
  }
  throws = false;
  RawClient client(server.port());
  client.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(client.read_all().substr(0, 15), "HTTP/1.1 200 OK");
}

// The next answer on the connection begins where the head of this one ends.
TEST(Server, AnswersHeadAsGetWithoutABody) {
  TestSite site;
  RawClient client(site.port());
  for (const char* path : {"/healthz", "/api/v1/fleet", "/api/v1/events", "/nowhere"}) {
    SCOPED_TRACE(path);
    client.forget();
    client.send(fmt::format("HEAD {} HTTP/1.1\r\nHost: localhost\r\n\r\n", path));
    const std::string head = client.read_until("\r\n\r\n");
    EXPECT_TRUE(head.ends_with("\r\n\r\n")) << head;
    EXPECT_EQ(head.substr(9, 3), std::string_view(path) == "/nowhere" ? "404" : "200");
    EXPECT_EQ(head.substr(0, 9), "HTTP/1.1 ");
  }
  client.forget();
  client.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(client.read_all().substr(0, 15), "HTTP/1.1 200 OK");
  const std::string length = site.call("HEAD", "/api/v1/fleet").header("Content-Length");
  EXPECT_EQ(length, std::to_string(site.call("GET", "/api/v1/fleet").body.size()));
}

TEST(Server, TradesATokenForACookie) {
  TestSite site{TestSite::WithTokens{}};
  const std::string origin = fmt::format("http://127.0.0.1:{}", site.port());
  EXPECT_EQ(site.call("POST", "/session", "{}").status, 401);
  const Reply opened = site.call("POST", "/session", "{}", TestSite::with(kOperateToken));
  EXPECT_EQ(opened.json(), (json{{"name", "carol"}, {"role", "operate"}, {"tokens", true}}));
  const std::string set = opened.header("Set-Cookie");
  for (const char* part : {"HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=43200"})
    EXPECT_NE(set.find(part), std::string::npos) << set;
  EXPECT_EQ(set.find("Secure"), std::string::npos);
  EXPECT_EQ(set.find(kOperateToken), std::string::npos);
  const std::string cookie = set.substr(0, set.find(';'));
  EXPECT_EQ(site.call("GET", "/session", "", {{"Cookie", cookie}}).json().at("name"), "carol");
  // A page that changes something has an Origin.
  EXPECT_EQ(site.call("POST", "/api/v1/freeze", "{}", {{"Cookie", cookie}}).status, 403);
  EXPECT_EQ(
      site.call("POST", "/api/v1/freeze", "{}", {{"Cookie", cookie}, {"Origin", origin}}).status,
      200);
  EXPECT_EQ(site.call("POST", "/session", "{}", {{"Cookie", cookie}, {"Origin", origin}}).status,
            401);
  // A wrong token beside a good cookie is a wrong token.
  auto both = TestSite::with("wrong-token-0123456789");
  both.emplace("Cookie", cookie);
  EXPECT_EQ(site.call("GET", "/session", "", both).status, 401);
  const Reply closed =
      site.call("DELETE", "/session", "", {{"Cookie", cookie}, {"Origin", origin}});
  EXPECT_EQ(closed.status, 204);
  EXPECT_NE(closed.header("Set-Cookie").find("Max-Age=0"), std::string::npos);
  EXPECT_EQ(site.call("GET", "/session", "", {{"Cookie", cookie}}).status, 401);
}

TEST(Server, ReadsTokensAgainAndKeepsTheOldOnesWhereTheNewAreBad) {
  TestSite site{TestSite::WithTokens{}};
  const auto status = [&](const char* token) {
    return site.call("GET", "/api/v1/fleet", "", TestSite::with(token)).status;
  };
  const Reply opened = site.call("POST", "/session", "{}", TestSite::with(kReadToken));
  const std::string cookie =
      opened.header("Set-Cookie").substr(0, opened.header("Set-Cookie").find(';'));
  site.folder().write("tokens", "dave king another-token-0123456789\n");
  site.server->reload_tokens();
  EXPECT_EQ(status(kReadToken), 200);
  EXPECT_EQ(status("another-token-0123456789"), 401);
  EXPECT_NE(site.lines().at(site.lines().size() - 2).find("tokens stay as they were"),
            std::string::npos);
  site.folder().write("tokens", "dave read another-token-0123456789\n");
  site.server->reload_tokens();
  EXPECT_EQ(status(kReadToken), 401);
  EXPECT_EQ(status("another-token-0123456789"), 200);
  // A session ends with its token.
  EXPECT_EQ(site.call("GET", "/session", "", {{"Cookie", cookie}}).status, 401);
}

TEST(Server, LogsChangesAndRefusalsAndNoSecrets) {
  TestSite site{TestSite::WithTokens{}};
  site.call("GET", "/api/v1/fleet", "", TestSite::with(kReadToken));
  EXPECT_TRUE(site.lines().empty());
  site.call("POST", "/api/v1/jobs?dry_run=0", kJob, TestSite::with(kSubmitToken));
  site.call("POST", "/api/v1/freeze", "{}", TestSite::with(kSubmitToken));
  site.call("GET", "/api/v1/fleet?token=SECRET", "", TestSite::with("SECRET-token-0123456789"));
  const auto lines = site.lines();
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0].substr(0, 28), "alice POST /api/v1/jobs 201 ");
  EXPECT_EQ(lines[1].substr(0, 30), "alice POST /api/v1/freeze 403 ");
  EXPECT_EQ(lines[2].substr(0, 32), "127.0.0.1 GET /api/v1/fleet 401 ");
  for (const std::string& line : lines) {
    EXPECT_EQ(line.find("SECRET"), std::string::npos);
    EXPECT_EQ(line.find("token"), std::string::npos);
    EXPECT_EQ(line.find("bert"), std::string::npos);
  }
}

TEST(Server, IsAliveBeforeItIsReady) {
  TestSite site{TestSite::WithTokens{}};
  site.backend.ready_ = false;
  EXPECT_EQ(site.call("GET", "/healthz").status, 200);
  const Reply not_ready = site.call("GET", "/readyz");
  EXPECT_EQ(not_ready.status, 503);
  EXPECT_EQ(not_ready.json().at("error"), "not ready: it was told so");
  site.backend.ready_ = true;
  EXPECT_EQ(site.call("GET", "/readyz").status, 200);
}

TEST(Server, SlowClientsAreCutOff) {
  ServerOptions options;
  options.read = 300ms;
  TestSite site(options);
  RawClient slow(site.port());
  const auto begin = std::chrono::steady_clock::now();
  // A byte now and then does not buy time.
  for (int i = 0; i < 40 && slow.send("x"); ++i) std::this_thread::sleep_for(20ms);
  EXPECT_EQ(slow.read_all().substr(9, 3), "408");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 3s);
  RawClient body(site.port());
  body.send("POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nx");
  EXPECT_EQ(body.read_all().substr(9, 3), "408");
}

TEST(Server, TurnsAwayConnectionsBeyondItsNumberAndServesAgainWhenTheyEnd) {
  ServerOptions options;
  options.connections.connections = 3;
  TestSite site(options);
  std::vector<std::unique_ptr<RawClient>> holders;
  for (int i = 0; i < 3; ++i) {
    holders.push_back(std::make_unique<RawClient>(site.port()));
    holders.back()->send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
    holders.back()->read_until("alive");
  }
  const std::string answer = site.raw("");
  EXPECT_EQ(answer.substr(9, 3), "503");
  EXPECT_TRUE(json::accept(answer.substr(answer.find("\r\n\r\n") + 4)));
  EXPECT_NE(answer.find("Content-Length: 52\r\n"), std::string::npos);
  holders.clear();
  int status = 0;
  for (int i = 0; i < 100 && status != 200; ++i) {
    std::this_thread::sleep_for(10ms);
    status = site.call("GET", "/healthz").status;
  }
  EXPECT_EQ(status, 200);
}

TEST(Server, StopsAtOnceAlthoughClientsAreConnected) {
  auto site = std::make_unique<TestSite>();
  RawClient idle(site->port());
  idle.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
  idle.read_until("alive");
  RawClient stream(site->port());
  stream.send("GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  stream.read_until("retry");
  const auto begin = std::chrono::steady_clock::now();
  site->server->stop();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 2s);
  idle.read_all();
  stream.read_all();
  EXPECT_TRUE(idle.at_end() && stream.at_end());
}

}  // namespace
}  // namespace smartmig
