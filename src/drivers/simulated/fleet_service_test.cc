#include "drivers/simulated/fleet_service.h"

#include <gtest/gtest.h>

#include <bit>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace smartmig {
namespace {

using nlohmann::json;

constexpr std::int64_t kMs = 1'000'000;

// A service on a fleet of two A100-40GB at a speed of 1, whose host's clock the test turns.
class FleetServiceTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "fleet_service_XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    dir_ = name;
    open();
  }
  void TearDown() override { std::filesystem::remove_all(dir_); }

  void open(const std::string& fleet = "2xA100-40GB", double speed = 1) {
    service_.reset();
    auto store = FleetStore::open(dir_ + "/fleet.state", fleet, speed, now_ns_);
    ASSERT_TRUE(store) << store.error().message;
    service_.emplace(std::move(*store), BehaviourShares{});
  }
  void send(FleetService::Client client, const std::string& fields) {
    service_->receive(client, "{\"id\":7," + fields + "}", now_ns_);
  }
  void pass(std::int64_t ms) {
    now_ns_ += ms * kMs;
    service_->advance(now_ns_);
  }
  // The one answer there is, to that client; null where there is none.
  json answer(FleetService::Client client) {
    const auto answers = service_->take_answers();
    if (answers.empty()) return nullptr;
    EXPECT_EQ(answers.size(), 1u);
    EXPECT_EQ(answers[0].first, client);
    return json::parse(answers[0].second);
  }
  json call(FleetService::Client client, const std::string& fields) {
    send(client, fields);
    return answer(client);
  }
  static std::string code(const json& answer) {
    if (answer.is_null()) return "no answer";
    return answer.contains("error") ? answer["error"]["code"] : "no error";
  }
  // The claim of client 1, as a field.
  std::string claim() {
    const json answer = call(1, R"("op":"claim","owner":"one")");
    return "\"epoch\":" + answer.at("ok").at("epoch").dump() + ",";
  }
  int slices(int gpu) {
    const json reading = call(9, R"("op":"read","gpu":)" + std::to_string(gpu));
    return static_cast<int>(reading.at("ok").at("slices").size());
  }
  // A 7g slice of GPU 0, made.
  std::string make_slice(const std::string& epoch) {
    send(2, epoch + create_);
    pass(240);
    return answer(2).at("ok").at("slice");
  }
  std::string start(const std::string& run, const std::string& slice) {
    return R"("op":"start","gpu":0,"run":")" + run + R"(","slice":")" + slice +
           R"(","full_us":5000000,"at_us":)" + std::to_string(service_->store().machine().now());
  }

  std::string dir_;
  std::int64_t now_ns_ = 1'000'000 * kMs;
  std::optional<FleetService> service_;
  // Of a 7g slice, the last base profile of the board.
  const std::string create_ =
      R"("op":"create","gpu":0,"at_us":0,"slot":)" +
      std::to_string(std::countr_zero(
          BoardTable::shipped()
              .find("A100-40GB")
              .value()
              ->profile_slots[static_cast<std::size_t>(
                  BoardTable::shipped().find("A100-40GB").value()->base_profile(7))]));
};

TEST_F(FleetServiceTest, ACreateIsAnsweredWhenTheSliceIsThere) {
  const std::string epoch = claim();
  send(2, epoch + create_);
  EXPECT_EQ(answer(2), nullptr);
  EXPECT_TRUE(service_->is_waiting(2));
  EXPECT_LE(service_->next_wake_ns(), now_ns_ + 240 * kMs + 2000);
  pass(239);
  EXPECT_EQ(answer(2), nullptr);
  EXPECT_EQ(slices(0), 0);
  pass(1);
  EXPECT_EQ(answer(2).at("ok").at("slice").get<std::string>().substr(0, 4), "MIG-");
  EXPECT_EQ(slices(0), 1);
}

TEST_F(FleetServiceTest, OneControllerAtATimeHasTheFleet) {
  EXPECT_EQ(code(call(2, create_)), "no-permission");
  const std::string first = claim();
  const json refused = call(5, R"("op":"claim","owner":"two")");
  EXPECT_EQ(code(refused), "in-use");
  EXPECT_NE(refused["error"]["message"].get<std::string>().find("one"), std::string::npos);
  service_->closed(1, now_ns_);
  EXPECT_EQ(code(call(2, first + create_)), "unreachable");
  EXPECT_EQ(code(call(5, R"("op":"claim","owner":"two")")), "no error");
  EXPECT_EQ(code(call(2, first + create_)), "superseded");
  EXPECT_EQ(code(call(1, R"("op":"claim","owner":"one","resume":1)")), "in-use");
  service_->closed(5, now_ns_);
  EXPECT_EQ(code(call(1, R"("op":"claim","owner":"one","resume":1)")), "superseded");
  EXPECT_EQ(code(call(6, R"("op":"claim","owner":"two","resume":2)")), "no error");
}

TEST_F(FleetServiceTest, OrdersThatWaitOrHangAreRefusedWhenAnotherClaims) {
  const std::string epoch = claim();
  const std::string slice = make_slice(epoch);
  ASSERT_EQ(code(call(9, R"("op":"inject","call":"start","delay_s":5)")), "no error");
  ASSERT_EQ(code(call(9, R"("op":"inject","call":"stop","hang":true)")), "no error");
  send(2, epoch + start("1.1", slice));
  send(3, epoch + R"("op":"stop","gpu":0,"run":"1.1","at_us":0)");
  EXPECT_EQ(answer(2), nullptr);
  service_->closed(1, now_ns_);
  send(5, R"("op":"claim","owner":"two")");
  const auto answers = service_->take_answers();
  ASSERT_EQ(answers.size(), 3u);
  EXPECT_EQ(code(json::parse(answers[0].second)), "superseded");
  EXPECT_EQ(code(json::parse(answers[1].second)), "superseded");
  pass(10'000);
  EXPECT_EQ(call(9, R"("op":"audit")").at("ok").at("started"), 0);
}

TEST_F(FleetServiceTest, AnOperationOfASupersededClaimGoesOnAndTellsOfItsEnd) {
  const std::string epoch = claim();
  send(2, epoch + create_);
  service_->closed(2, now_ns_);
  service_->closed(1, now_ns_);
  ASSERT_EQ(code(call(5, R"("op":"claim","owner":"two")")), "no error");
  EXPECT_TRUE(call(9, R"("op":"read","gpu":0)").at("ok").at("changing"));
  pass(300);
  EXPECT_EQ(slices(0), 1);
  EXPECT_EQ(call(5, R"("op":"events")").at("ok").at(0).at(2), "changed");
}

TEST_F(FleetServiceTest, AFaultStrikesTheNthCallOfItsKindAndGpuSoOften) {
  ASSERT_EQ(code(call(9, R"("op":"inject","call":"read","gpu":1,"nth":2,"times":2,)"
                         R"("code":"timeout")")),
            "no error");
  const auto read = [&](int gpu) {
    return code(call(9, R"("op":"read","gpu":)" + std::to_string(gpu)));
  };
  EXPECT_EQ(read(0), "no error");
  EXPECT_EQ(read(1), "no error");
  EXPECT_EQ(read(1), "timeout");
  EXPECT_EQ(read(0), "no error");
  EXPECT_EQ(read(1), "timeout");
  EXPECT_EQ(read(1), "no error");
  EXPECT_TRUE(call(9, R"("op":"list")").at("ok").at("faults").empty());
}

TEST_F(FleetServiceTest, AFaultForEverStaysUntilItIsCleared) {
  ASSERT_EQ(code(call(9, R"("op":"inject","times":0,"code":"gpu-lost")")), "no error");
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(code(call(9, R"("op":"read-all")")), "gpu-lost");
    EXPECT_EQ(code(call(1, R"("op":"claim","owner":"one")")), "gpu-lost");
    EXPECT_EQ(code(call(9, R"("op":"events")")), "gpu-lost");
  }
  EXPECT_EQ(call(9, R"("op":"list")").at("ok").at("faults").size(), 1u);
  EXPECT_EQ(call(9, R"("op":"clear","fault":1)").at("ok").at("cleared"), 1);
  EXPECT_EQ(code(call(9, R"("op":"read-all")")), "no error");
}

TEST_F(FleetServiceTest, AnErrorMayBeALie) {
  const std::string epoch = claim();
  ASSERT_EQ(code(call(9, R"("op":"inject","call":"create","code":"unknown")")), "no error");
  EXPECT_EQ(code(call(2, epoch + create_)), "unknown");
  pass(1000);
  EXPECT_EQ(slices(0), 0);
  ASSERT_EQ(code(call(9, R"("op":"inject","call":"create","code":"unknown","done":true)")),
            "no error");
  send(2, epoch + create_);
  pass(1000);
  EXPECT_EQ(code(answer(2)), "unknown");
  EXPECT_EQ(slices(0), 1);
}

TEST_F(FleetServiceTest, AHangHoldsItsOwnConnectionAlone) {
  const std::string epoch = claim();
  for (const bool done : {false, true}) {
    ASSERT_EQ(code(call(9, std::string(R"("op":"inject","call":"create","hang":true,"done":)") +
                               (done ? "true" : "false"))),
              "no error");
    const FleetService::Client client = done ? 3 : 2;
    send(client, epoch + create_);
    pass(100'000);
    EXPECT_EQ(answer(client), nullptr);
    EXPECT_TRUE(service_->is_waiting(client));
    EXPECT_EQ(slices(0), done ? 1 : 0);
  }
}

TEST_F(FleetServiceTest, ADelayIsOnTheHostsClockOrTheFleets) {
  open("2xA100-40GB", 10);
  ASSERT_EQ(code(call(9, R"("op":"inject","call":"read","delay_s":2)")), "no error");
  send(2, R"("op":"read","gpu":0)");
  pass(1999);
  EXPECT_EQ(answer(2), nullptr);
  pass(1);
  EXPECT_EQ(code(answer(2)), "no error");
  ASSERT_EQ(code(call(9, R"("op":"inject","call":"read","delay_s":2,"fleet_time":true)")),
            "no error");
  send(2, R"("op":"read","gpu":0)");
  pass(199);
  EXPECT_EQ(answer(2), nullptr);
  pass(1);
  EXPECT_EQ(code(answer(2)), "no error");
}

TEST_F(FleetServiceTest, RunsBehaveAsToldByNameByJobAndNext) {
  const std::string epoch = claim();
  const std::string slice = make_slice(epoch);
  ASSERT_EQ(code(call(9, R"("op":"behave","run":"1.2","fail_at":0.5)")), "no error");
  ASSERT_EQ(code(call(9, R"("op":"behave","job":"1","overrun":2,"times":0)")), "no error");
  const auto end_of = [&](const std::string& run) {
    EXPECT_EQ(code(call(2, epoch + start(run, slice))), "no error");
    const TimeUs begin = service_->store().machine().now();
    pass(20'000);
    const FleetEvent event = service_->store().machine().events().back();
    EXPECT_EQ(event.run, run);
    return std::string(to_string(event.kind)) + " " + std::to_string(event.at_us - begin);
  };
  EXPECT_EQ(end_of("1.1"), "ended 10000000");
  EXPECT_EQ(end_of("1.2"), "failed 2500000");
  EXPECT_EQ(end_of("1.3"), "ended 10000000");
  EXPECT_EQ(end_of("11.1"), "ended 5000000");
  ASSERT_EQ(code(call(9, R"("op":"clear")")), "no error");
  ASSERT_EQ(code(call(9, R"("op":"behave","overrun":3)")), "no error");
  EXPECT_EQ(end_of("1.4"), "ended 15000000");
  EXPECT_EQ(end_of("1.5"), "ended 5000000");
}

TEST_F(FleetServiceTest, SharesAreDrawnByNameAndSeed) {
  const BehaviourPlan plan({.fail = 0.3, .overrun = 0.2, .stubborn = 0.1, .seed = 5});
  int failed = 0, overran = 0, stubborn = 0;
  for (int i = 0; i < 1000; ++i) {
    const auto run = std::to_string(i) + ".1";
    const RunBehaviour drawn = plan.of(run);
    EXPECT_EQ(drawn, plan.of(run));
    EXPECT_EQ(drawn.overrun, plan.of(std::to_string(i) + ".2").overrun);
    failed += drawn.fail_at >= 0, overran += drawn.overrun == 2;
    stubborn += drawn.ignore_stop_us == kNever;
  }
  EXPECT_NEAR(failed, 300, 60);
  EXPECT_NEAR(overran, 200, 60);
  EXPECT_NEAR(stubborn, 100, 50);
}

TEST_F(FleetServiceTest, EventsAreWaitedForAndForgottenByWhoHasTheClaim) {
  const std::string epoch = claim();
  const std::string slice = make_slice(epoch);
  ASSERT_EQ(code(call(2, epoch + start("1.1", slice))), "no error");
  send(3, epoch + R"("op":"events","after":0,"wait_ms":9000)");
  EXPECT_EQ(answer(3), nullptr);
  EXPECT_LE(service_->next_wake_ns(), now_ns_ + 1000 * kMs);
  pass(4999);
  EXPECT_EQ(answer(3), nullptr);
  EXPECT_LE(service_->next_wake_ns(), now_ns_ + kMs + 2000);
  pass(1);
  EXPECT_EQ(answer(3).at("ok").at(0).at(2), "ended");
  send(3, epoch + R"("op":"events","after":1,"wait_ms":100)");
  EXPECT_TRUE(service_->store().machine().events().empty());
  pass(100);
  EXPECT_TRUE(answer(3).at("ok").empty());
}

TEST_F(FleetServiceTest, WhoHasNoClaimReadsEventsAndForgetsNone) {
  ASSERT_EQ(code(call(9, R"("op":"reboot","gpu":0)")), "no error");
  EXPECT_EQ(call(9, R"("op":"events","after":1)").at("ok").size(), 0u);
  EXPECT_EQ(call(9, R"("op":"events","after":0)").at("ok").size(), 1u);
}

TEST_F(FleetServiceTest, MalformedRequestsAreAnsweredWithOneLine) {
  for (const char* fields :
       {R"("op":"craete")", R"("op":"abandon","gpu":0)", R"("op":"read")",
        R"("op":"read","gpu":-1)", R"("op":"inject")", R"("op":"inject","code":"no-such")",
        R"("op":"claim","owner":5)", R"("op":"inject","call":"audit","hang":true)", R"("op":5)",
        R"("op")", R"("op":"read","gpu":1e300)", R"("op":"create","gpu":0,"slot":64,"at_us":0)"}) {
    const json refused = call(9, fields);
    EXPECT_EQ(code(refused), "unknown") << fields;
    EXPECT_NE(refused["error"]["message"].get<std::string>().find("request"), std::string::npos);
  }
  EXPECT_EQ(code(call(9, R"("op":"read","gpu":2)")), "not-found");
  EXPECT_EQ(code(call(9, R"("op":"describe")")), "no error");
}

TEST_F(FleetServiceTest, ComesBackAsItWasWithTimeGoneOn) {
  const std::string epoch = claim();
  const std::string slice = make_slice(epoch);
  ASSERT_EQ(code(call(2, epoch + start("1.1", slice))), "no error");
  ASSERT_EQ(code(call(9, R"("op":"reboot","gpu":1)")), "no error");
  pass(3000);
  const TimeUs before = service_->store().machine().now();
  now_ns_ += 1000 * kMs;
  open();
  EXPECT_EQ(service_->store().machine().now(), before + 1000 * 1000);
  EXPECT_EQ(code(call(2, epoch + start("1.1", slice))), "unreachable");
  ASSERT_EQ(code(call(1, R"("op":"claim","owner":"one","resume":1)")), "no error");
  EXPECT_EQ(code(call(2, epoch + start("1.1", slice))), "already-ran");
  pass(1000);
  const json events = call(9, R"("op":"events")").at("ok");
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[1].at(2), "ended");
}

TEST_F(FleetServiceTest, GoesOnFromTheLastTimeWrittenWhereTheHostWasRestarted) {
  pass(5000);
  const TimeUs before = service_->store().machine().now();
  now_ns_ = 1000 * kMs;  // The host's clock began again.
  open();
  EXPECT_EQ(service_->store().machine().now(), before);
}

// A thousand simulated years and more, where a double holds no whole microseconds any more.
TEST_F(FleetServiceTest, ReadsWhatItHasWrittenAtAnySpeedAndTime) {
  open("", 1e6);
  const std::string epoch = claim();
  for (const std::int64_t hours : {1, 2, 100, 1000, 1000}) {
    pass(hours * 3600 * 1000 + 1);
    send(2, epoch + create_);
    pass(1);
    service_->take_answers();
    const TimeUs now = service_->store().machine().now();
    EXPECT_LE(now, kLastFleetUs);
    const std::string before = call(9, R"("op":"snapshot")").at("ok").dump();
    // As a process finds it that takes over from one that was killed.
    std::filesystem::copy_file(dir_ + "/fleet.state", dir_ + "/copy",
                               std::filesystem::copy_options::overwrite_existing);
    const auto copy = FleetStore::open(dir_ + "/copy", "", 1e6, now_ns_);
    ASSERT_TRUE(copy) << copy.error().message;
    EXPECT_EQ(copy->machine().now(), now);
  }
  EXPECT_EQ(service_->store().machine().now(), kLastFleetUs) << "there it stands still";
}

TEST_F(FleetServiceTest, RefusesAnotherFleetThanTheOneThere) {
  const auto other = FleetStore::open(dir_ + "/fleet.state", "3xA100-40GB", 1, now_ns_);
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message.find("2xA100-40GB"), std::string::npos) << other.error().message;
  open("");
}

TEST_F(FleetServiceTest, TheFileStaysBounded) {
  const std::string epoch = claim();
  std::uintmax_t largest = 0;
  for (int i = 0; i < 90'000; ++i) {
    send(2, epoch + R"("op":"stop","gpu":0,"at_us":0,"run":")" + std::string(100, 'x') + "\"");
    service_->take_answers();
    if (i % 1000 == 0)
      largest = std::max(largest, std::filesystem::file_size(dir_ + "/fleet.state"));
  }
  EXPECT_GT(largest, 7u << 20);
  EXPECT_LT(largest, 9u << 20);
}

}  // namespace
}  // namespace smartmig
