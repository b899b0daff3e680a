#include "control/lanes.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

namespace smartmig {
namespace {

constexpr std::int64_t kLaneMs = 1'000'000;
constexpr auto kLong = std::chrono::seconds(20);

// Holds tasks until it is opened.
struct Gate {
  std::promise<void> promise;
  std::shared_future<void> opened = promise.get_future().share();
  void open() { promise.set_value(); }
  Lanes::Task task(std::function<void()> then = {}) const {
    return [opened = opened, then = std::move(then)] {
      opened.wait();
      if (then) then();
    };
  }
};

template <class What>
bool comes_true(What what) {
  const auto end = std::chrono::steady_clock::now() + kLong;
  while (!what()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

TEST(LaneTasks, RunOneAtATimeAndInOrderInEachLane) {
  constexpr std::uint32_t kCount = 5;
  constexpr int kTasks = 200;
  std::atomic<int> left = kTasks * static_cast<int>(kCount);
  std::atomic<int> at_once[kCount] = {};
  std::atomic<bool> together = false, out_of_order = false;
  int last[kCount] = {};  // Each is touched by its lane alone.
  {
    Lanes lanes(4);
    for (int i = 1; i <= kTasks; ++i) {
      for (std::uint32_t lane = 0; lane < kCount; ++lane) {
        lanes.add(lane, [&, lane, i] {
          if (++at_once[lane] != 1) together = true;
          if (last[lane] != i - 1) out_of_order = true;
          last[lane] = i;
          --at_once[lane];
          --left;
        });
      }
    }
    EXPECT_TRUE(comes_true([&] { return left == 0; }));
  }
  EXPECT_FALSE(together);
  EXPECT_FALSE(out_of_order);
}

TEST(LaneTasks, ThatAreGivenUpKeepTheirLaneShutAndNoOther) {
  Gate gate;
  std::atomic<bool> begun = false, after = false;
  std::atomic<int> elsewhere = 0;
  {
    Lanes lanes(1);  // The only thread is held.
    lanes.add(1, [&, wait = gate.task()] {
      begun = true;
      wait();
    });
    lanes.add(1, [&] { after = true; });
    ASSERT_TRUE(comes_true([&] { return begun.load(); }));
    const std::int64_t now = monotonic_ns();
    EXPECT_TRUE(lanes.give_up(now, 60'000 * kLaneMs).empty());
    EXPECT_EQ(lanes.give_up(now + 61'000 * kLaneMs, 60'000 * kLaneMs),
              std::vector<std::uint32_t>{1});
    EXPECT_TRUE(lanes.give_up(now + 99'000 * kLaneMs, 60'000 * kLaneMs).empty());  // Named once.
    // Another thread has taken its place.
    for (std::uint32_t lane = 2; lane < 6; ++lane) lanes.add(lane, [&] { ++elsewhere; });
    EXPECT_TRUE(comes_true([&] { return elsewhere == 4; }));
    EXPECT_FALSE(after);
    gate.open();
    EXPECT_TRUE(comes_true([&] { return after.load(); }));
    // It may be given up anew, as any other.
    Gate second;
    lanes.add(1, second.task());
    EXPECT_TRUE(comes_true([&] {
      return lanes.give_up(monotonic_ns() + 61'000 * kLaneMs, 60'000 * kLaneMs).size() == 1;
    }));
    second.open();
  }
}

// Who was told that a call was given up hears of it afterwards.
TEST(LaneTasks, AreNotGivenUpOnceTheyDeliver) {
  Gate gate;
  std::atomic<bool> delivers = false;
  Lanes lanes(1);
  lanes.add(
      1, [] {},
      [&, wait = gate.task()] {
        delivers = true;
        wait();
      });
  ASSERT_TRUE(comes_true([&] { return delivers.load(); }));
  EXPECT_TRUE(lanes.give_up(monotonic_ns() + 61'000 * kLaneMs, 60'000 * kLaneMs).empty());
  gate.open();
}

TEST(LaneTasks, AreWaitedForAtTheEndUnlessTheyWereGivenUp) {
  std::atomic<bool> ended = false;
  {
    Lanes lanes(2);
    std::atomic<bool> begun = false;
    lanes.add(1, [&] {
      begun = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      ended = true;
    });
    ASSERT_TRUE(comes_true([&] { return begun.load(); }));
  }
  EXPECT_TRUE(ended);
  Gate gate;
  auto came_back = std::make_shared<std::promise<void>>();
  {
    Lanes lanes(1);
    std::promise<void> begun;
    lanes.add(1, [&begun, wait = gate.task([came_back] { came_back->set_value(); })] {
      begun.set_value();
      wait();
    });
    begun.get_future().wait();
    ASSERT_EQ(lanes.give_up(monotonic_ns() + kLaneMs, 0).size(), 1U);
  }
  gate.open();  // It comes back to nobody, and does no harm.
  EXPECT_EQ(came_back->get_future().wait_for(kLong), std::future_status::ready);
}

}  // namespace
}  // namespace smartmig
