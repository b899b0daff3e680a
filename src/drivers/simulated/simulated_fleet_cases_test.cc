// Random orders to a machine, looked at from outside; the seed is in the failure.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/random.h"
#include "drivers/simulated/simulated_fleet.h"
#include "mig/layout.h"

namespace smartmig {
namespace {

using Kind = FleetChange::Kind;

constexpr double kSpeed = 100;

// What drew power on a GPU, as the test saw it begin and end.
struct RunStay {
  TimeUs begin_us;
  TimeUs end_us;
  int compute;
  double watts;
};

// The energy of one board from a list of stays, moment by moment.
double slow_energy(const BoardPower& power, const std::vector<RunStay>& stays,
                   const std::vector<std::pair<TimeUs, bool>>& resets, TimeUs until) {
  std::set<TimeUs> edges{0, until};
  for (const RunStay& stay : stays) {
    for (const TimeUs time : {stay.begin_us, stay.end_us, stay.end_us + power.context_linger_us})
      edges.insert(std::min(time, until));
  }
  for (const auto& [time, down] : resets) edges.insert(time);
  double joules = 0;
  for (auto at = edges.begin(); std::next(at) != edges.end(); ++at) {
    const TimeUs begin = *at;
    int busy = 0;
    double watts = 0;
    TimeUs last_use = -1;
    for (const RunStay& stay : stays) {
      if (stay.begin_us <= begin && begin < stay.end_us) busy += stay.compute, watts += stay.watts;
      if (stay.end_us <= begin) last_use = std::max(last_use, stay.end_us);
    }
    bool down = false;
    TimeUs reset_us = -1;
    for (const auto& [time, lost] : resets)
      if (time <= begin) down = lost, reset_us = time;
    const bool open = last_use > reset_us && begin - last_use < power.context_linger_us;
    const double level = down       ? 0
                         : busy > 0 ? power.additive
                                          ? std::min(power.cap_w, power.context_idle_w + watts)
                                          : power.busy_w[static_cast<std::size_t>(busy)]
                         : open ? power.context_idle_w
                                    : power.busy_w[0];
    joules += level * to_s(*std::next(at) - begin);
  }
  return joules;
}

class Case {
 public:
  explicit Case(std::uint64_t seed) : random_(seed, "fleet cases") {
    apply({.kind = Kind::kSpeed, .speed = kSpeed});
  }

  void run(int steps) {
    for (int i = 0; i < steps && !testing::Test::HasFailure(); ++i) {
      now_ += static_cast<TimeUs>(random_.below(4) == 0 ? 0 : random_.below(3 * kSecondUs));
      machine_.advance_to(now_);
      pass_twin();
      step();
      check_layouts();
    }
    check_runs();
    check_events();
    check_energy();
    std::string a, b;
    machine_.save(a);
    twin_.save(b);
    EXPECT_EQ(a, b);
  }

 private:
  static Fleet make_fleet() { return Fleet::parse("A100-40GB+A30+H200-141GB").value(); }

  // The same machine, but saved and loaded now and then, and let to pass time in pieces.
  void pass_twin() {
    twin_.advance_to(twin_.now() + (now_ - twin_.now()) / 2);
    if (random_.below(10) == 0) {
      std::string text;
      twin_.save(text);
      auto loaded = SimulatedFleet::load(nlohmann::json::parse(text));
      ASSERT_TRUE(loaded) << loaded.error().message;
      twin_ = std::move(*loaded);
    }
    twin_.advance_to(now_);
  }

  DriverResult<SimulatedFleet::Done> apply(const FleetChange& change) {
    auto done = machine_.apply(change);
    const auto again = twin_.apply(change);
    EXPECT_EQ(done.has_value(), again.has_value());
    return done;
  }

  GpuIndex any_gpu() { return static_cast<GpuIndex>(random_.below(3)); }
  TimeUs recent() { return std::max<TimeUs>(0, now_ - random_.below(40 * kSecondUs)); }

  void step() {
    const GpuIndex gpu = any_gpu();
    const auto reading = *machine_.read(gpu);
    const auto choice = random_.below(100);
    FleetChange change{.gpu = gpu, .at_us = recent()};
    if (choice < 25) {
      change.kind = choice < 22 ? Kind::kCreate : Kind::kForeignCreate;
      change.slot = static_cast<int>(random_.below(machine_.fleet().board(gpu).slots.size()));
      apply(change);
    } else if (choice < 26) {
      change.kind = reading.lost            ? Kind::kReturn
                    : random_.below(2) == 0 ? Kind::kLose
                                            : Kind::kReboot;
      reset(change);
    } else if (!reading.slices.empty()) {
      on_slice(change, reading.slices[random_.below(reading.slices.size())], choice);
    }
  }

  void reset(const FleetChange& change) {
    if (!apply(change)) return;
    resets_[change.gpu].emplace_back(now_, change.kind == Kind::kLose);
    for (auto& [uuid, stay] : foreign_) {
      if (stay.first == change.gpu && stay.second.end_us == kNever) stay.second.end_us = now_;
    }
  }

  void on_slice(FleetChange change, const SliceReading& slice, std::uint64_t choice) {
    slots_[slice.uuid] = slice.slot;
    change.uuid = slice.uuid;
    change.order.run = slice.run.empty() ? "nobody" : slice.run;
    if (choice < 40) {
      change.kind = choice < 38 ? Kind::kDestroy : Kind::kForeignDestroy;
    } else if (choice < 70) {
      change.kind = Kind::kStart;
      make_order(change, slice);
    } else if (choice < 85) {
      change.kind = Kind::kStop;
    } else if (choice < 92) {
      change.kind = Kind::kKill;
    } else if (choice < 96) {
      change.kind = foreign_.contains(slice.uuid) && random_.below(2) == 0 ? Kind::kForeignStop
                                                                           : Kind::kForeignRun;
    } else {
      change.kind = Kind::kAbandon;
    }
    const auto done = apply(change);
    if (!done) return;
    if (change.kind == Kind::kStart) watts_[change.order.run] = change.order.watts;
    if (change.kind == Kind::kForeignRun) {
      foreign_[slice.uuid] = {change.gpu, {now_, kNever, 0, 0}};
    }
    if (change.kind == Kind::kForeignStop) end_foreign(slice.uuid);
  }

  void end_foreign(const std::string& uuid) {
    auto node = foreign_.extract(uuid);
    node.mapped().second.end_us = now_;
    const auto [gpu, stay] = node.mapped();
    ended_foreign_.push_back({gpu, stay.begin_us, stay.end_us, uuid});
  }

  void make_order(FleetChange& change, const SliceReading& slice) {
    change.order.run = std::to_string(++runs_) + ".1";
    change.order.slice_uuid = slice.uuid;
    change.order.full_us = static_cast<TimeUs>(1 + random_.below(20 * kSecondUs));
    change.order.left = random_.uniform();
    change.order.restore_us = static_cast<TimeUs>(random_.below(3) * kSecondUs / 2);
    change.order.checkpoint_us = static_cast<TimeUs>(random_.below(3) * kSecondUs);
    change.order.watts = random_.below(2) == 0 ? 0 : 50;
    if (random_.below(4) == 0) change.behaviour.fail_at = random_.uniform();
    if (random_.below(4) == 0) change.behaviour.overrun = 2;
    if (random_.below(4) == 0) change.behaviour.ignore_stop_us = kSecondUs;
    if (random_.below(20) == 0) change.behaviour.ignore_kill = true;
  }

  std::vector<SliceReading> slices_of(GpuIndex gpu) const { return machine_.read(gpu)->slices; }

  void check_layouts() {
    for (GpuIndex gpu = 0; gpu < 3; ++gpu) {
      SlotSet set = 0;
      for (const SliceReading& slice : slices_of(gpu)) {
        slots_[slice.uuid] = slice.slot;
        set |= SlotSet{1} << slice.slot;
      }
      EXPECT_TRUE(is_legal(machine_.fleet().board(gpu), set));
    }
  }

  // One run at a time on a slice, and the same number under way as slices say.
  void check_runs() {
    std::map<std::string, std::vector<std::pair<TimeUs, TimeUs>>> by_slice;
    std::size_t under_way = 0;
    for (const RunRecord* run : machine_.ledger().after(0, 1'000'000)) {
      under_way += run->outcome == RunOutcome::kUnderWay;
      by_slice[run->slice].emplace_back(run->start_us, run->end_us < 0 ? kNever : run->end_us);
    }
    for (auto& [slice, stays] : by_slice) {
      std::sort(stays.begin(), stays.end());
      for (std::size_t i = 1; i < stays.size(); ++i)
        EXPECT_LE(stays[i - 1].second, stays[i].first) << slice;
    }
    std::size_t seen = 0;
    for (GpuIndex gpu = 0; gpu < 3; ++gpu)
      for (const SliceReading& slice : slices_of(gpu)) seen += !slice.run.empty();
    EXPECT_EQ(seen, under_way);
  }

  void check_events() {
    std::uint64_t number = 0;
    TimeUs time = 0;
    std::set<std::string> over;
    for (const FleetEvent& event : machine_.events()) {
      EXPECT_EQ(event.number, ++number);
      EXPECT_GE(event.at_us, time);
      EXPECT_LE(event.at_us, now_);
      time = event.at_us;
      EXPECT_TRUE(event.run.empty() || over.insert(event.run).second) << event.run;
    }
  }

  void check_energy() {
    std::vector<std::vector<RunStay>> stays(3);
    const auto add = [&](GpuIndex gpu, const std::string& uuid, TimeUs begin, TimeUs end,
                         double watts) {
      const Board& board = machine_.fleet().board(gpu);
      const int compute = board.profiles[board.slots[slots_.at(uuid)].profile].compute_slices;
      const auto& levels = board.power.busy_w;
      if (watts == 0) watts = levels[static_cast<std::size_t>(compute)] - levels[0];
      stays[gpu].push_back({begin, end, compute, watts});
    };
    for (const RunRecord* run : machine_.ledger().after(0, 1'000'000))
      add(run->gpu, run->slice, run->start_us, run->end_us < 0 ? kNever / 2 : run->end_us,
          watts_.at(run->run));
    for (const auto& [uuid, stay] : foreign_)
      add(stay.first, uuid, stay.second.begin_us, std::min(stay.second.end_us, kNever / 2), 0);
    for (const Foreign& stay : ended_foreign_)
      add(stay.gpu, stay.uuid, stay.begin_us, stay.end_us, 0);
    for (GpuIndex gpu = 0; gpu < 3; ++gpu) {
      const double slow =
          slow_energy(machine_.fleet().board(gpu).power, stays[gpu], resets_[gpu], now_);
      EXPECT_NEAR(machine_.read(gpu)->energy_j, slow, 1e-6 * slow) << "GPU " << gpu;
    }
  }

  struct Foreign {
    GpuIndex gpu = 0;
    TimeUs begin_us = 0;
    TimeUs end_us = 0;
    std::string uuid;
  };
  Random random_;
  SimulatedFleet machine_{make_fleet(), "cases"};
  SimulatedFleet twin_{make_fleet(), "cases"};
  TimeUs now_ = 0;
  int runs_ = 0;
  std::map<std::string, std::uint8_t> slots_;
  std::map<std::string, double> watts_;
  std::map<std::string, std::pair<GpuIndex, RunStay>> foreign_;  // The last of each slice.
  std::vector<Foreign> ended_foreign_;
  std::map<GpuIndex, std::vector<std::pair<TimeUs, bool>>> resets_;
};

TEST(SimulatedFleetCases, RandomOrdersKeepEveryInvariantOverReloads) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Case(seed).run(400);
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace smartmig
