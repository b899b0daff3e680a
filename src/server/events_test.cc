#include <gtest/gtest.h>

#include <thread>

#include "server/test_site.h"

namespace smartmig {
namespace {

using namespace std::chrono_literals;

std::unique_ptr<RawClient> stream(const TestSite& site, const std::string& headers = "") {
  auto client = std::make_unique<RawClient>(site.port());
  client->send("GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n");
  return client;
}

TEST(Events, ComeAsTheyHappen) {
  TestSite site;
  const auto client = stream(site);
  const std::string head = client->read_until("retry: 2000\n\n");
  EXPECT_NE(head.find("200 OK"), std::string::npos);
  EXPECT_NE(head.find("Content-Type: text/event-stream\r\n"), std::string::npos);
  client->forget();
  site.backend.notify("gpu", R"({"kind":"gpu"})");
  site.backend.notify("job", R"({"kind":"job"})");
  EXPECT_EQ(client->read_until("\"job\"}\n\n"),
            "id: 1\nevent: gpu\ndata: {\"kind\":\"gpu\"}\n\n"
            "id: 2\nevent: job\ndata: {\"kind\":\"job\"}\n\n");
}

TEST(Events, GoOnWhereAClientLeftOff) {
  TestSite site;
  for (int i = 1; i <= 5; ++i) site.backend.notify("job", fmt::format("{{\"n\":{}}}", i));
  const auto client = stream(site, "Last-Event-ID: 3\r\n");
  const std::string got = client->read_until("\"n\":5}\n\n");
  EXPECT_EQ(got.find("\"n\":3"), std::string::npos);
  EXPECT_NE(got.find("id: 4\nevent: job\ndata: {\"n\":4}"), std::string::npos);
  EXPECT_EQ(got.find("missed"), std::string::npos);
  // Who has seen nothing gets what is new.
  const auto fresh = stream(site);
  fresh->read_until("retry: 2000\n\n");
  site.backend.notify("job", "{\"n\":6}");
  EXPECT_EQ(fresh->read_until("\"n\":6}\n\n").find("\"n\":5"), std::string::npos);
  client->forget();
  site.backend.notify("job", "{\"n\":7}");
  // Once each, although the two were not at the same place.
  const std::string rest = client->read_until("\"n\":7}\n\n");
  EXPECT_EQ(rest.find("\"n\":7"), rest.rfind("\"n\":7"));
}

TEST(Events, SayWhatWasMissed) {
  TestSite site;
  for (int i = 1; i <= 9; ++i) site.backend.notify("job", fmt::format("{{\"n\":{}}}", i));
  site.backend.forget_notices_before(8);
  const auto client = stream(site, "Last-Event-ID: 3\r\n");
  EXPECT_NE(client->read_until("missed\"}\n\n").find("event: missed"), std::string::npos);
  client->forget();
  site.backend.notify("job", "{\"n\":10}");
  // It is to look at everything again: what is from before that is not told.
  EXPECT_EQ(client->read_until("\"n\":10}\n\n"), "id: 10\nevent: job\ndata: {\"n\":10}\n\n");
  // A number of a controller that was here before.
  const auto stale = stream(site, "Last-Event-ID: 1000\r\n");
  EXPECT_NE(stale->read_until("missed\"}\n\n").find("event: missed"), std::string::npos);
}

TEST(Events, WhoComesBackFarBehindStaysAndLooksAtEverythingAgain) {
  ServerOptions options;
  options.events.pending_bytes = 1000;
  TestSite site(options);
  for (int i = 1; i <= 9; ++i)
    site.backend.notify("job", fmt::format("{{\"n\":{},\"x\":\"{}\"}}", i, std::string(200, 'x')));
  const auto client = stream(site, "Last-Event-ID: 1\r\n");
  const std::string got = client->read_until("missed\"}\n\n");
  EXPECT_NE(got.find("event: missed"), std::string::npos);
  EXPECT_EQ(got.find("\"n\":"), std::string::npos);
  site.backend.notify("job", "{\"n\":10}");
  EXPECT_NE(client->read_until("\"n\":10}\n\n").find("\"n\":10}"), std::string::npos);
}

TEST(Events, BeatWhileNothingHappens) {
  ServerOptions options;
  options.events.heartbeat = 100ms;
  TestSite site(options);
  EXPECT_NE(stream(site)->read_until(": alive\n\n").find(": alive\n\n"), std::string::npos);
}

// So that whoever may not listen any more does not.
TEST(Events, EndAfterTheirTime) {
  ServerOptions options;
  options.events.life = 200ms;
  TestSite site(options);
  const auto client = stream(site);
  EXPECT_NE(client->read_all().find("retry"), std::string::npos);
  EXPECT_TRUE(client->at_end());
}

// Two are open, a third is refused, and has a place once one is gone.
void expect_places_for_two(const ServerOptions& options) {
  TestSite site(options);
  const auto one = stream(site);
  auto two = stream(site);
  one->read_until("retry");
  two->read_until("retry");
  EXPECT_EQ(stream(site)->read_all().substr(9, 3), "503");
  two.reset();
  // Its place is free once it is noticed.
  std::string answer;
  for (int i = 0; i < 50 && answer.substr(0, 15) != "HTTP/1.1 200 OK"; ++i) {
    std::this_thread::sleep_for(20ms);
    answer = stream(site)->read_until("\n\n");
  }
  EXPECT_EQ(answer.substr(0, 15), "HTTP/1.1 200 OK");
}

TEST(Events, AreBounded) {
  ServerOptions options;
  options.events.streams = 2;
  expect_places_for_two(options);
}

TEST(Events, OneClientMayNotHaveThemAll) {
  ServerOptions options;
  options.events.per_client = 2;
  options.limit_loopback = true;
  expect_places_for_two(options);
}

// Much at once is no reason to drop who reads it.
TEST(Events, WhoKeepsUpStays) {
  ServerOptions options;
  options.events.pending_bytes = 1000;
  TestSite site(options);
  const auto client = stream(site);
  client->read_until("retry: 2000\n\n");
  site.backend.notify("job", "{\"first\":1}");
  client->read_until("\"first\":1}\n\n");
  site.backend.notify("job", fmt::format("{{\"x\":\"{}\"}}", std::string(20'000, 'x')));
  EXPECT_NE(client->read_until("xx\"}\n\n").find("xx\"}"), std::string::npos);
  site.backend.notify("job", "{\"last\":1}");
  EXPECT_NE(client->read_until("\"last\":1}\n\n").find("\"last\""), std::string::npos);
}

TEST(Events, AClientThatReadsNothingIsDropped) {
  ServerOptions options;
  options.events.pending_bytes = 100'000;
  TestSite site(options);
  const auto deaf = stream(site);
  deaf->read_until("retry");
  const auto listener = stream(site);
  listener->read_until("retry: 2000\n\n");
  const std::string large = fmt::format("{{\"x\":\"{}\"}}", std::string(50'000, 'x'));
  std::thread reader([&] { listener->read_until("\"last\""); });
  for (int i = 0; i < 300; ++i) {
    site.backend.notify("job", large);
    std::this_thread::sleep_for(2ms);
  }
  std::this_thread::sleep_for(300ms);
  site.backend.notify("job", "{\"last\":1}");
  reader.join();
  EXPECT_EQ(deaf->read_all().find("\"last\""), std::string::npos);
}

// Many that read nothing, each within its share: together they may not have more than all may.
TEST(Events, ManyClientsThatReadNothingAreBoundedTogether) {
  ServerOptions options;
  options.events.pending_bytes = 4'000'000;
  options.events.total_bytes = 3'000'000;
  TestSite site(options);
  std::vector<std::unique_ptr<RawClient>> deaf;
  for (int i = 0; i < 40; ++i) {
    deaf.push_back(stream(site));
    deaf.back()->read_until("retry");
  }
  const auto listener = stream(site);
  listener->read_until("retry: 2000\n\n");
  const std::string text(100'000, 'x');
  // More than the socket buffers of one client take. The listener has each before the next comes:
  // however busy the machine is, it is never the one that took nothing for longest.
  for (int i = 0; i < 40; ++i) {
    const std::string number = fmt::format("\"number\":{}}}\n\n", i);
    site.backend.notify("job", fmt::format("{{\"x\":\"{}\",\"number\":{}}}", text, i));
    ASSERT_NE(listener->read_until(number).find(number), std::string::npos) << i;
    listener->forget();
  }
  EXPECT_GT(site.server->events().most_waiting(), 0u);
  EXPECT_LE(site.server->events().most_waiting(), 3'000'000u);
}

TEST(Events, NeedTheRoleReadAndEndWhenTokensAreReadAgain) {
  TestSite site{TestSite::WithTokens{}};
  EXPECT_EQ(site.call("GET", "/api/v1/events").status, 401);
  const auto client = stream(site, fmt::format("Authorization: Bearer {}\r\n", kReadToken));
  client->read_until("retry: 2000\n\n");
  site.server->reload_tokens();
  client->read_all();
  EXPECT_TRUE(client->at_end());
}

TEST(Events, TwoHundredStreamsDoNotHoldUpSubmissions) {
  TestSite site;
  std::vector<std::unique_ptr<RawClient>> streams;
  for (int i = 0; i < 200; ++i) {
    streams.push_back(stream(site));
    streams.back()->read_until("retry");
  }
  httplib::Client client("127.0.0.1", site.port());
  client.set_keep_alive(true);
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 500; ++i) {
    const Reply reply =
        TestSite::call_by(client, "POST", "/api/v1/jobs",
                          R"({"profile":"bert-training","work_s":60,"deadline_s":90})");
    ASSERT_EQ(reply.status, 201);
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  EXPECT_LT(took.count(), 5);
  for (const auto& listener : streams)
    EXPECT_NE(listener->read_until("\"503\"}\n\n").find("\"503\"}"), std::string::npos);
}

}  // namespace
}  // namespace smartmig
