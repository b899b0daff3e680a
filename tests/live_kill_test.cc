// Controllers killed -9 under load, at random moments and at every step of a change: no accepted
// job is lost or run twice, no slice orphaned, no layout illegal, and the journal replays.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <thread>

#include "base/random.h"
#include "base/text.h"
#include "case_count.h"
#include "control/journal.h"
#include "live_fixture.h"

namespace smartmig {
namespace {

constexpr int kKills = 25;
constexpr int kMostLeft = 300;  // Jobs: three GPUs are to be busy, not buried.
constexpr const char* kPolicies[] = {"smartmig", "count/cedf", "greedy"};

// Submits jobs under keys, and after a kill the one that was not answered again.
class Client {
 public:
  explicit Client(std::uint64_t seed) : random_(seed, "client") {}

  // False: the controller is dead.
  bool submit_one(ControllerProcess& controller) {
    if (pending_.empty()) {
      const int number = next_++;
      pending_key_ = fmt::format("k{}", number);
      pending_ = fmt::format("submit {} {} {}", pending_key_, 5 + random_.below(60),
                             60 + random_.below(600));
    }
    const auto answer = controller.ask(pending_);
    if (!answer) return false;
    const auto words = split(*answer, ' ');
    EXPECT_TRUE(words[0] == "201" || words[0] == "200") << *answer;
    if (words.size() == 2) accepted_[pending_key_] = *parse_integer(words[1]);
    pending_.clear();
    return true;
  }
  bool do_something(ControllerProcess& controller) {
    static constexpr const char* kLayouts[] = {"7", "4-3", "3-3", "4-2-1", "2-2-2-1"};
    const auto gpu = random_.below(3);
    std::string line;
    switch (random_.below(6)) {
      case 0:
        line = fmt::format("cordon {}", gpu);
        break;
      case 1:
        line = fmt::format("drain {}", gpu);
        break;
      case 2:
      case 3:
        line = fmt::format("uncordon {}", gpu);
        break;
      case 4:
        line = fmt::format("apply {} {}", gpu, kLayouts[random_.below(std::size(kLayouts))]);
        break;
      default:
        line = fmt::format("cancel {}", 1 + random_.below(static_cast<std::uint64_t>(next_)));
    }
    return controller.ask(line).has_value();
  }
  bool load(ControllerProcess& controller, double seconds) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    while (std::chrono::steady_clock::now() < end) {
      const auto left = controller.ask("left");
      if (!left) return false;
      if (*parse_integer(*left) < kMostLeft && !submit_one(controller)) return false;
      if (random_.below(8) == 0 && !do_something(controller)) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(random_.below(12)));
    }
    return true;
  }
  const std::map<std::string, JobNumber>& accepted() const { return accepted_; }

 private:
  Random random_;
  int next_ = 1;
  std::string pending_, pending_key_;
  std::map<std::string, JobNumber> accepted_;
};

// A last controller lets everything come to its end, and all accounts must agree.
void finish_and_check(LiveRig& rig, const Client& client) {
  {
    ControllerProcess last(rig, "smartmig");
    for (int gpu = 0; gpu < 3; ++gpu) (void)last.ask(fmt::format("uncordon {}", gpu));
    EXPECT_TRUE(wait_until([&] { return last.ask("left").value_or("dead") == "0"; }, 300))
        << last.ask("left").value_or("dead") << " left";
    EXPECT_EQ(last.ask("check").value_or("dead"), "ok");
  }
  auto journal = JournalReader::open(rig.state_dir());
  ASSERT_TRUE(journal.has_value()) << journal.error().message;
  for (const auto& [key, id] : client.accepted()) {
    const auto row = journal->job_by_key("test", key);
    ASSERT_TRUE(row.has_value() && row->has_value()) << key << " is lost";
    EXPECT_EQ((*row)->number, id) << key;
    EXPECT_TRUE(is_final((*row)->phase)) << key;
  }
  EXPECT_EQ(wrong_runs(rig), "");
  EXPECT_EQ(wrong_journal(rig.state_dir()), "");
}

// Kills a controller again and again as soon as the next one is there. Answers how many jobs were
// accepted.
std::size_t kill_at_random_moments(const std::string& name, std::uint64_t seed, int kills) {
  Random random(seed, "kills");
  LiveRig rig(name);
  rig.start_fleet("3xA100-40GB", 500, 0.1);
  Client client(seed);
  for (int i = 0; i < kills && !testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE(fmt::format("kill {}", i));
    ControllerProcess controller(rig, kPolicies[random.below(std::size(kPolicies))]);
    const bool as_it_starts = random.below(4) == 0;
    if (!as_it_starts) {
      EXPECT_EQ(controller.ask("check").value_or("dead"), "ok");
      EXPECT_TRUE(controller.ask("standing").value_or("dead").starts_with("1 "))
          << "a kill is no damage";
    }
    const std::uint64_t after_us =
        as_it_starts ? random.below(60'000) : 20'000 + random.below(600'000);
    std::thread killer([&, after_us] {
      std::this_thread::sleep_for(std::chrono::microseconds(after_us));
      controller.kill();
    });
    (void)client.load(controller, 10);
    killer.join();
    if (random.below(5) == 0) {
      rig.kill_fleet();
      rig.restart_fleet();
    }
  }
  finish_and_check(rig, client);
  return client.accepted().size();
}

TEST(LiveKill, LosesNothingWhenKilledAtRandomMoments) {
  const std::uint64_t seed = seed_of_this_run();
  std::printf("SMARTMIG_SEED=%llu\n", static_cast<unsigned long long>(seed));
  const int kills = case_count(kKills);
  // Each has at least the usual number, one after the other on the same journal.
  const int rigs = std::clamp(kills / kKills, 1, 4);
  std::atomic<std::size_t> accepted = 0;
  run_side_by_side(rigs, rigs, [&](int rig) {
    SCOPED_TRACE(fmt::format("SMARTMIG_SEED={}, rig {}", seed, rig));
    const int share = kills * (rig + 1) / rigs - kills * rig / rigs;
    accepted += kill_at_random_moments(fmt::format("random-kills-{}", rig),
                                       seed + static_cast<std::uint64_t>(rig), share);
  });
  std::printf("%d kills over %d rigs, %zu jobs accepted\n", kills, rigs, accepted.load());
}

enum class Absent { kController, kFleet, kBoth };

// A process is killed under load and comes back after `away_s`; meanwhile clients continue, where
// there is a controller to talk to.
std::size_t stay_away(int number, std::uint64_t seed, Absent absent, double away_s) {
  LiveRig rig(fmt::format("away-{}", number));
  rig.start_fleet("3xA100-40GB", 500, 0.1);
  Client client(seed);
  {
    ControllerProcess controller(rig, kPolicies[seed % std::size(kPolicies)]);
    EXPECT_TRUE(client.load(controller, 2));
    if (absent == Absent::kFleet) {
      rig.kill_fleet();
      EXPECT_TRUE(client.load(controller, away_s)) << "the controller is still there";
      rig.restart_fleet();
      EXPECT_TRUE(client.load(controller, 2));
    }
    controller.kill();
  }
  if (absent == Absent::kBoth) rig.kill_fleet();
  if (absent != Absent::kFleet) std::this_thread::sleep_for(std::chrono::duration<double>(away_s));
  if (absent == Absent::kBoth) rig.restart_fleet();
  {
    ControllerProcess next(rig, "smartmig");
    EXPECT_TRUE(next.ask("standing").value_or("dead").starts_with("1 ")) << "that is no damage";
    EXPECT_TRUE(client.load(next, 2));
  }
  finish_and_check(rig, client);
  return client.accepted().size();
}

// SMARTMIG_CASES=60: for 5 to 60 s each; fewer than ten: for 5 to 8 s.
TEST(LiveAway, LosesNothingWhenAProcessStaysAwayForLong) {
  constexpr int kRigs = 6;
  const std::uint64_t seed = seed_of_this_run();
  std::printf("SMARTMIG_SEED=%llu\n", static_cast<unsigned long long>(seed));
  const int count = case_count(3);
  Random random(seed, "away");
  struct Case {
    Absent absent;
    double away_s;
  };
  std::vector<Case> cases;
  double total_s = 0;
  for (int i = 0; i < count; ++i) {
    const double away_s = 5 + static_cast<double>(random.below(count < 10 ? 3000 : 55'000)) / 1000;
    cases.push_back({static_cast<Absent>(i % 3), away_s});
    total_s += away_s;
  }
  std::atomic<std::size_t> accepted = 0;
  run_side_by_side(count, kRigs, [&](int i) {
    const Case& one = cases[static_cast<std::size_t>(i)];
    SCOPED_TRACE(fmt::format("SMARTMIG_SEED={}, case {}: {} away for {} s", seed, i,
                             static_cast<int>(one.absent), one.away_s));
    accepted += stay_away(i, seed + static_cast<std::uint64_t>(i), one.absent, one.away_s);
  });
  std::printf("%d absences of %.0f s together, %zu jobs accepted\n", count, total_s,
              accepted.load());
}

struct Moment {
  const char* point;
  const char* call = "";  // That fails meanwhile, for points that only come then.
  int times = 6;          // It fails so often; 0: until the controller is dead.
};

class LiveKillAt : public testing::TestWithParam<Moment> {};

TEST_P(LiveKillAt, LosesNothing) {
  for (int nth = 1; nth <= 3; ++nth) {
    SCOPED_TRACE(fmt::format("at the {}. '{}'", nth, GetParam().point));
    LiveRig rig(fmt::format("kill-at-{}", GetParam().point));
    rig.start_fleet("3xA100-40GB", 500);
    if (*GetParam().call != 0)
      rig.tell_fleet(fmt::format(
          "\"op\":\"inject\",\"call\":\"{}\",\"nth\":2,\"times\":{},\"code\":\"no-permission\"",
          GetParam().call, GetParam().times));
    Client client(static_cast<std::uint64_t>(nth));
    {
      ControllerProcess controller(rig, "smartmig", GetParam().point, nth);
      // Retries of one GPU come 10, 20 and 40 s after each other: the third takes more than a
      // minute.
      ASSERT_FALSE(client.load(controller, 240)) << "it was never there";
    }
    rig.tell_fleet("\"op\":\"clear\"");
    finish_and_check(rig, client);
    if (testing::Test::HasFailure()) return;
  }
}

// A GPU of two slices, a job on one of them; the other is cut in two and made whole again, each
// change by a controller that dies at some point of it.
class KilledChanges {
 public:
  explicit KilledChanges(const Moment& moment)
      : moment_(moment), rig_(fmt::format("killed-change-{}", moment.point)) {
    rig_.start_fleet("1xA100-40GB", 500);
    ControllerProcess first(rig_, kPolicy);
    EXPECT_EQ(first.ask("submit busy 50000 60000").value_or("dead"), "201 1");
    EXPECT_TRUE(wait_until([&] { return !busy_slice().empty(); }));
    busy_ = busy_slice();
    EXPECT_EQ(first.ask("freeze").value_or("dead"), "ok");
    layout_ = "4-3";
  }

  // False: there is no such point.
  bool kill_at(int nth, int linger_ms) {
    const std::string target = layout_ == "4-3" ? "4-2-1" : "4-3";
    if (*moment_.call != 0)
      rig_.tell_fleet(
          fmt::format("\"op\":\"inject\",\"call\":\"{}\",\"nth\":{},\"code\":\"no-permission\"",
                      moment_.call, target == "4-3" ? 1 : 2));
    bool died = false;
    {
      ControllerProcess armed(rig_, kPolicy, moment_.point, nth, linger_ms);
      died = !armed.ask(fmt::format("apply 0 {}", target)) || !lives_to_see(armed, target);
    }
    rig_.tell_fleet("\"op\":\"clear\"");
    check();
    return died;
  }

  // The job has not noticed anything.
  void finish() {
    {
      ControllerProcess last(rig_, kPolicy);
      EXPECT_EQ(last.ask("cancel 1").value_or("dead"), "ok");
      EXPECT_TRUE(wait_until([&] { return last.ask("left").value_or("dead") == "0"; }));
    }
    EXPECT_EQ(wrong_runs(rig_), "");
    EXPECT_EQ(wrong_journal(rig_.state_dir()), "");
  }

 private:
  static constexpr const char* kPolicy = "static:4-3/cedf";

  bool lives_to_see(ControllerProcess& controller, const std::string& layout) {
    const std::string wanted = fmt::format("{} {} up 0", layout, layout);
    std::optional<std::string> now;
    EXPECT_TRUE(wait_until([&] {
      now = controller.ask("layout 0");
      return !now || (*now == wanted && every_intent_is_closed(rig_.state_dir()));
    }));
    return now.has_value();
  }

  // UUID and run of the slice that has one.
  std::string busy_slice() {
    for (const GpuReading& gpu : rig_.readings()) {
      for (const SliceReading& slice : gpu.slices) {
        if (!slice.run.empty()) return slice.uuid + " " + slice.run;
      }
    }
    return "";
  }

  // The next controller finishes what was under way, or undoes it.
  void check() {
    ControllerProcess next(rig_, kPolicy);
    std::string now;
    EXPECT_TRUE(wait_until([&] {
      now = next.ask("layout 0").value_or("dead");
      return now == "4-3 4-3 up 0" || now == "4-2-1 4-2-1 up 0";
    })) << now;
    EXPECT_EQ(next.ask("check").value_or("dead"), "ok");
    EXPECT_EQ(busy_slice(), busy_);
    layout_ = now.substr(0, now.find(' '));
    EXPECT_TRUE(wait_until([&] { return every_intent_is_closed(rig_.state_dir()); }));
  }

  Moment moment_;
  LiveRig rig_;
  std::string busy_, layout_;
};

class LiveKillInAChange : public testing::TestWithParam<Moment> {};

TEST_P(LiveKillInAChange, FinishesOrUndoesItBesideABusySlice) {
  constexpr int kMost = 200;
  KilledChanges changes(GetParam());
  int kills = 0;
  // At each of its points four times: cutting in two and making whole, and each at once and when
  // the calls that are out have come back unheard.
  for (bool comes = true; comes && kills < kMost;) {
    const int nth = kills / 4 + 1;
    SCOPED_TRACE(fmt::format("at the {}. '{}'", nth, GetParam().point));
    comes = changes.kill_at(nth, kills % 4 < 2 ? 0 : 20);
    kills += comes;
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(kills, 0) << "it was never there";
  EXPECT_LT(kills, kMost);
  std::printf("%d kills at '%s'\n", kills, GetParam().point);
  changes.finish();
}

std::string name_of(const testing::TestParamInfo<Moment>& moment) {
  std::string name = moment.param.point;
  std::erase_if(name, [](char letter) { return letter == ','; });
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(
    Points, LiveKillInAChange,
    testing::Values(Moment{"claimed"}, Moment{"begun"}, Moment{"taken up"}, Moment{"decided"},
                    Moment{"committed"}, Moment{"journalled, calls not made"},
                    Moment{"calls handed out"}, Moment{"step done"}, Moment{"intent closed"},
                    Moment{"step failed", "create"}, Moment{"undo ordered", "create"},
                    Moment{"undo done", "create"}, Moment{"retry ordered", "create", 0}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Points, LiveKillAt,
    testing::Values(Moment{"decided"}, Moment{"committed"}, Moment{"journalled, calls not made"},
                    Moment{"calls handed out"}, Moment{"step done"}, Moment{"intent closed"},
                    Moment{"started"}, Moment{"step failed", "create"},
                    Moment{"undo ordered", "create"}, Moment{"undo done", "create"},
                    Moment{"retry ordered", "create"}),
    name_of);

}  // namespace
}  // namespace smartmig
