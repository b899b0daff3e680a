// Controllers killed -9 under load, at random moments and at every step of a change: no accepted
// job is lost or run twice, no slice orphaned, no layout illegal, and the journal replays.
#include <gtest/gtest.h>

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
      if (!submit_one(controller)) return false;
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
    EXPECT_TRUE(wait_until([&] { return last.ask("left").value_or("dead") == "0"; }, 60))
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

TEST(LiveKill, LosesNothingWhenKilledAtRandomMoments) {
  const std::uint64_t seed = seed_of_this_run();
  std::printf("SMARTMIG_SEED=%llu\n", static_cast<unsigned long long>(seed));
  SCOPED_TRACE(fmt::format("SMARTMIG_SEED={}", seed));
  Random random(seed, "kills");
  LiveRig rig("random-kills");
  rig.start_fleet("3xA100-40GB", 500, 0.1);
  Client client(seed);
  const int kills = case_count(kKills);
  for (int i = 0; i < kills && !testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE(fmt::format("kill {}", i));
    ControllerProcess controller(rig, kPolicies[random.below(std::size(kPolicies))]);
    const auto checked = controller.ask("check");
    ASSERT_EQ(checked.value_or("dead"), "ok");
    std::thread killer([&, after_ms = 20 + random.below(600)] {
      std::this_thread::sleep_for(std::chrono::milliseconds(after_ms));
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
  std::printf("%d kills, %zu jobs accepted\n", kills, client.accepted().size());
}

struct Moment {
  const char* point;
  const char* call = "";  // That fails meanwhile, for points that only come then.
};

class LiveKillAt : public testing::TestWithParam<Moment> {};

TEST_P(LiveKillAt, LosesNothing) {
  for (int nth = 1; nth <= 3; ++nth) {
    SCOPED_TRACE(fmt::format("at the {}. '{}'", nth, GetParam().point));
    LiveRig rig(fmt::format("kill-at-{}", GetParam().point));
    rig.start_fleet("3xA100-40GB", 500);
    if (*GetParam().call != 0)
      rig.tell_fleet(fmt::format(
          "\"op\":\"inject\",\"call\":\"{}\",\"nth\":2,\"times\":6,\"code\":\"no-permission\"",
          GetParam().call));
    Client client(static_cast<std::uint64_t>(nth));
    {
      ControllerProcess controller(rig, "smartmig", GetParam().point, nth);
      ASSERT_FALSE(client.load(controller, 8)) << "it was never there";
    }
    rig.tell_fleet("\"op\":\"clear\"");
    finish_and_check(rig, client);
    if (testing::Test::HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Points, LiveKillAt,
    testing::Values(Moment{"decided"}, Moment{"committed"}, Moment{"journalled, calls not made"},
                    Moment{"calls handed out"}, Moment{"step done"}, Moment{"intent closed"},
                    Moment{"started"}, Moment{"step failed", "create"},
                    Moment{"undo ordered", "create"}, Moment{"undo done", "create"},
                    Moment{"retry ordered", "create"}),
    [](const testing::TestParamInfo<Moment>& moment) {
      std::string name = moment.param.point;
      std::erase_if(name, [](char letter) { return letter == ','; });
      std::replace(name.begin(), name.end(), ' ', '_');
      return name;
    });

}  // namespace
}  // namespace smartmig
