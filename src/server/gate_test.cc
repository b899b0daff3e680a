// Tokens, sessions, rates and names: the parts of the gate on their own.
#include "server/gate.h"

#include <gtest/gtest.h>

#include "server/rate_limit.h"
#include "server/test_site.h"

namespace smartmig {
namespace {

using namespace std::chrono_literals;

TEST(Tokens, AreReadLineByLine) {
  const auto tokens = Tokens::parse(token_lines(), "tokens");
  ASSERT_TRUE(tokens) << tokens.error().message;
  EXPECT_EQ(tokens->size(), 4u);
  ASSERT_TRUE(tokens->find(kSubmitToken));
  EXPECT_EQ(tokens->find(kSubmitToken)->name, "alice");
  EXPECT_EQ(tokens->find(kSubmitToken)->role, Role::kSubmit);
  EXPECT_FALSE(tokens->find("submit-token-012345678"));
  EXPECT_FALSE(tokens->find(""));
}

TEST(Tokens, RefuseABadFileWithoutShowingIt) {
  const std::string secret = "0123456789abcdefSECRET";
  for (const std::string& text :
       {std::string(), std::string("# none\n"), "a read\n" + secret, "a king " + secret,
        secret + " " + secret + " " + secret, std::string("a read SECRETshort"),
        "a read " + secret + "\na submit 0123456789abcdefg",
        "a read " + secret + "\nb read " + secret, "a read " + secret + " x",
        "a read \xff" + secret}) {
    const auto tokens = Tokens::parse(text, "tokens");
    ASSERT_FALSE(tokens) << text;
    EXPECT_EQ(tokens.error().message.find("SECRET"), std::string::npos) << tokens.error().message;
    EXPECT_EQ(tokens.error().message.find('\n'), std::string::npos);
  }
}

TEST(Tokens, RefuseAFileThatOthersCanRead) {
  const TempFolder folder;
  EXPECT_TRUE(Tokens::load(folder.write("good", token_lines(), 0600)));
  for (const unsigned mode : {0640u, 0604u, 0644u, 0620u, 0400u, 0700u}) {
    const auto tokens = Tokens::load(folder.write("bad", token_lines(), mode));
    ASSERT_FALSE(tokens) << mode;
    // 0400 cannot be written a second time by a plain user; it is last of its name then.
    std::filesystem::remove(folder.path() + "/bad");
    EXPECT_NE(tokens.error().message.find("0600"), std::string::npos) << tokens.error().message;
  }
  EXPECT_FALSE(Tokens::load(folder.path()));
  EXPECT_FALSE(Tokens::load(folder.path() + "/absent"));
}

TEST(Tokens, BearerIsTheOnlyScheme) {
  EXPECT_EQ(bearer_token("Bearer abc").value_or(""), "abc");
  EXPECT_EQ(bearer_token("bearer  abc").value_or(""), "abc");
  for (const char* text : {"", "Bearer", "Bearer ", "Basic abc", "Bearerabc", "Bearer a b"})
    EXPECT_FALSE(bearer_token(text)) << text;
}

TEST(Sessions, EndByTimeAndByChoiceAndByNumber) {
  Sessions sessions(2, 10s);
  const auto now = Sessions::Clock::now();
  const Digest one = digest_of("one"), two = digest_of("two");
  const std::string first = *sessions.open(one, now);
  const std::string second = *sessions.open(two, now + 1s);
  EXPECT_NE(first, second);
  EXPECT_EQ(first.size(), 64u);
  EXPECT_EQ(sessions.find(first, now), one);
  EXPECT_EQ(sessions.find(second, now + 9s), two);
  EXPECT_FALSE(sessions.find(first, now + 10s));
  EXPECT_TRUE(sessions.find(second, now + 10s));
  const std::string third = *sessions.open(one, now + 10s);
  *sessions.open(one, now + 10s);
  EXPECT_FALSE(sessions.find(second, now + 10s));  // The oldest made room.
  EXPECT_EQ(sessions.size(), 2u);
  sessions.close(third);
  EXPECT_FALSE(sessions.find(third, now + 10s));
  EXPECT_FALSE(sessions.find("", now + 10s));
}

TEST(Sessions, OfOneTokenPushOutItsOwnOnly) {
  Sessions sessions;
  const auto now = Sessions::Clock::now();
  const Digest one = digest_of("one"), other = digest_of("other");
  const std::string kept = *sessions.open(one, now);
  const std::string first = *sessions.open(other, now);
  for (int i = 0; i < 2000; ++i) sessions.open(other, now);
  EXPECT_EQ(sessions.find(kept, now), one);
  EXPECT_EQ(sessions.find(first, now), std::nullopt);
  EXPECT_EQ(sessions.size(), 33u);
}

TEST(Sessions, CookiesAreFoundByTheirWholeName) {
  EXPECT_EQ(cookie_value("a=1; smartmig_session=x; b=2", "smartmig_session"), "x");
  EXPECT_EQ(cookie_value("xsmartmig_session=1", "smartmig_session"), "");
  EXPECT_EQ(cookie_value("smartmig_sessions=1", "smartmig_session"), "");
  EXPECT_EQ(cookie_value("", "a"), "");
  EXPECT_EQ(cookie_value("a", "a"), "");
}

TEST(RateLimit, GivesASecondsWorthAndThenWaits) {
  RateLimit limit(10, 2);
  const auto now = RateLimit::Clock::now();
  for (int i = 0; i < 10; ++i) EXPECT_EQ(limit.take("a", now), 0);
  EXPECT_EQ(limit.take("a", now), 1);
  EXPECT_EQ(limit.take("b", now), 0);
  EXPECT_EQ(limit.take("a", now + 100ms), 0);
  EXPECT_EQ(limit.take("a", now + 100ms), 1);
  EXPECT_EQ(limit.take("c", now + 100ms), 0);
  EXPECT_EQ(limit.clients(), 2u);  // b is forgotten, not a, which was seen later.
  EXPECT_EQ(limit.take("a", now + 100ms), 1);
  EXPECT_EQ(limit.look("a", now + 100ms), 1);
  EXPECT_EQ(limit.look("a", now + 200ms), 0);
  EXPECT_EQ(limit.look("a", now + 200ms), 0);
  EXPECT_EQ(limit.look("never seen", now), 0);
  EXPECT_EQ(limit.clients(), 2u);
  EXPECT_EQ(RateLimit(0).take("a", now), 0);
  EXPECT_EQ(RateLimit(0.1).take("a", now), 0);
}

TEST(Hosts, KnowTheirNames) {
  const Hosts hosts("127.0.0.1", {"Sched.Example"});
  for (const char* good : {"127.0.0.1", "127.0.0.1:80", "localhost:1", "LOCALHOST", "[::1]:9",
                           "sched.example", "SCHED.example:443"})
    EXPECT_TRUE(hosts.is_ours(good, "127.0.0.1")) << good;
  for (const char* bad :
       {"", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "localhost:x",
        "localhost:99999", "[::1", "a b", "sched.example:80:80", "[evil]", "10.0.0.1"})
    EXPECT_FALSE(hosts.is_ours(bad, "127.0.0.1")) << bad;
  const Hosts everywhere("0.0.0.0", {});
  EXPECT_TRUE(everywhere.is_ours("10.0.0.1:8080", "10.0.0.1"));
  EXPECT_FALSE(everywhere.is_ours("localhost:8080", "10.0.0.1"));
  EXPECT_FALSE(everywhere.is_ours("0.0.0.0", "10.0.0.1"));
}

TEST(Hosts, OneClientOfIpv6HasManyAddresses) {
  EXPECT_EQ(client_of("2001:db8:1:2::1"), client_of("2001:db8:1:2:ffff::9"));
  EXPECT_NE(client_of("2001:db8:1:2::1"), client_of("2001:db8:1:3::1"));
  EXPECT_NE(client_of("192.0.2.1"), client_of("192.0.2.2"));
}

TEST(Hosts, AnOriginIsTheWholeOfIt) {
  EXPECT_TRUE(Hosts::same_origin("http://localhost:8080", "localhost:8080", false));
  EXPECT_TRUE(Hosts::same_origin("https://sched.example", "sched.example:443", true));
  for (const char* bad : {"null", "", "https://localhost:8080", "http://localhost:8081",
                          "http://localhost", "http://evil.example:8080", "http://localhost:8080/",
                          "localhost:8080", "http://localhost:8080@evil.example"})
    EXPECT_FALSE(Hosts::same_origin(bad, "localhost:8080", false)) << bad;
}

}  // namespace
}  // namespace smartmig
