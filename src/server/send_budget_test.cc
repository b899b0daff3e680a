// Clients that ask for large answers and read none of them.
#include "server/send_budget.h"

#include <gtest/gtest.h>

#include <thread>

#include "server/test_site.h"

namespace smartmig {
namespace {

using namespace std::chrono_literals;
using Clock = SendBudget::Clock;

TEST(SendBudget, HoldsBytesUntilTheyAreSent) {
  SendBudget budget({.answer = 60, .total = 100});
  const auto soon = Clock::now() + 10ms;
  EXPECT_EQ(budget.reserve(-1, 61, soon), nullptr);  // More than one answer may have.
  auto first = budget.reserve(-1, 60, soon);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(budget.reserve(-1, 41, soon), nullptr);
  const auto second = budget.reserve(-1, 40, soon);
  EXPECT_NE(second, nullptr);
  EXPECT_EQ(budget.held(), 100u);
  first.reset();
  EXPECT_EQ(budget.held(), 40u);
  EXPECT_NE(budget.reserve(-1, 60, soon), nullptr);
  EXPECT_EQ(budget.most_held(), 100u);
}

TEST(SendBudget, ClosesTheSlowestConnectionToMakeRoom) {
  SendBudget budget({.answer = 100, .total = 100, .grace = 0ms});
  int fast[2], slow[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, fast), 0);
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, slow), 0);
  auto of_fast = budget.reserve(fast[0], 50, Clock::now() + 10ms);
  auto of_slow = budget.reserve(slow[0], 50, Clock::now() + 10ms);
  of_fast->sent(49);
  // The thread that writes to the slow one notices and lets go.
  std::thread writer([&] {
    char byte = 0;
    EXPECT_EQ(recv(slow[1], &byte, 1, 0), 0);
    of_slow.reset();
  });
  EXPECT_NE(budget.reserve(-1, 50, Clock::now() + 10s), nullptr);
  writer.join();
  const char byte = 'x';
  EXPECT_EQ(send(fast[0], &byte, 1, MSG_NOSIGNAL), 1);
  for (const int socket : {fast[0], fast[1], slow[0], slow[1]}) close(socket);
}

// A client that has just begun may not have taken anything yet either.
TEST(SendBudget, OfConnectionsThatTookNothingTheOneThatHadLongestIsClosed) {
  SendBudget budget({.answer = 60, .total = 100, .grace = 0ms});
  int early[2], late[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, early), 0);
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, late), 0);
  auto of_early = budget.reserve(early[0], 50, Clock::now() + 10s);
  const auto of_late = budget.reserve(late[0], 50, Clock::now() + 10s);
  std::thread writer([&] {
    char byte = 0;
    EXPECT_EQ(recv(early[1], &byte, 1, 0), 0);
    of_early.reset();
  });
  EXPECT_NE(budget.reserve(-1, 50, Clock::now() + 10s), nullptr);
  writer.join();
  const char byte = 'x';
  EXPECT_EQ(send(late[0], &byte, 1, MSG_NOSIGNAL), 1);
  for (const int socket : {early[0], early[1], late[0], late[1]}) close(socket);
}

TEST(SendBudget, LetsFewBuildAtOnce) {
  SendBudget budget({.builders = 2});
  std::atomic<int> now{0}, most{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      const auto permit = budget.begin_building();
      most = std::max(most.load(), ++now);
      std::this_thread::sleep_for(5ms);
      --now;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(most, 2);
}

// The answer of 3,000 GPUs has over 1.5 MB; thirty of them would be over 45 MB.
TEST(SendBudget, ClientsThatReadNothingHoldNoMoreThanTheBudgetAndOthersAreServed) {
  ServerOptions options;
  options.answers.total = 12'000'000;
  TestSite site(options);
  for (int i = 2; i < 3000; ++i) site.backend.fleet_.gpus.push_back(FakeBackend::example_gpu(i));
  std::vector<std::unique_ptr<RawClient>> deaf;
  for (int i = 0; i < 30; ++i) {
    deaf.push_back(std::make_unique<RawClient>(site.port(), 4096));
    deaf.back()->send("GET /api/v1/fleet HTTP/1.1\r\nHost: localhost\r\n\r\n");
  }
  for (int i = 0; i < 3; ++i) {
    const Reply fleet = site.call("GET", "/api/v1/fleet");
    EXPECT_EQ(fleet.status, 200);
    EXPECT_EQ(fleet.json().at("gpus").size(), 3000u);
  }
  EXPECT_EQ(site.call("GET", "/healthz").status, 200);
  EXPECT_GT(site.server->send_budget().most_held(), 2'000'000u);
  EXPECT_LE(site.server->send_budget().most_held(), 12'000'000u);
}

// Each answer is small, and together they are more than the kernel takes for a client that reads
// nothing: the thread that writes them waits, and holds no permit meanwhile.
TEST(SendBudget, AClientThatTakesNoSmallAnswersDoesNotKeepOthersFromBuilding) {
  ServerOptions options;
  options.answers.builders = 1;
  TestSite site(options);
  RawClient deaf(site.port(), 4096);
  std::string requests;
  for (int i = 0; i < 500; ++i) requests += "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
  EXPECT_TRUE(deaf.send(requests));
  std::this_thread::sleep_for(500ms);
  const auto begin = Clock::now();
  EXPECT_EQ(site.call("GET", "/api/v1/fleet").status, 200);
  EXPECT_LT(Clock::now() - begin, 5s);
}

TEST(SendBudget, AnAnswerLargerThanAnyMayBeIsRefused) {
  ServerOptions options;
  options.answers.answer = 100'000;
  TestSite site(options);
  for (int i = 2; i < 3000; ++i) site.backend.fleet_.gpus.push_back(FakeBackend::example_gpu(i));
  const Reply refused = site.call("GET", "/api/v1/fleet");
  EXPECT_EQ(refused.status, 503);
  EXPECT_NE(refused.error().find("ask for pages with limit"), std::string::npos);
  EXPECT_EQ(site.call("GET", "/api/v1/fleet?limit=10").status, 200);
}

}  // namespace
}  // namespace smartmig
