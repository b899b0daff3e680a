#include "policy/rooms.h"

#include <gtest/gtest.h>

#include <bit>

#include "base/random.h"
#include "policy/situation.h"

namespace smartmig {
namespace {

constexpr std::array<double, kSizeCount> kLinearS = {4200, 2100, 1400, 1050, 600};  // Seconds.

// GPUs with running jobs, seen through Rooms.
class OnRooms {
 public:
  OnRooms(std::string_view fleet, std::string_view layouts, std::vector<Job> jobs,
          const Costs& costs = Costs::free())
      : on(fleet, layouts, std::move(jobs), "prices", Preemption::kCheckpoint, costs),
        view(on.view()) {
    award_.begin(first_knobs().costly_moves, 0, 0, 0, 1, true);
    stoppable_.reserve(on.jobs.size());
    candidates_.reserve(on.jobs.size());
  }
  Candidate candidate(JobIndex job, int held = -1) {
    Candidate made;
    EXPECT_TRUE(award_.weigh(view, job, on.fleet.kinds_for(on.jobs[job]), held, made));
    return made;
  }
  // One that runs on slices of that many compute slices alone.
  Candidate only_on(JobIndex job, int slices) {
    Candidate made = candidate(job);
    for (int size = 0; size < kSizeCount; ++size) {
      if (kSizes[size] != slices) made.speed[size] = 0;
    }
    return made;
  }
  // The running job may be stopped; `awarded` is the size it would get now, -1 for none.
  void stoppable(JobIndex job, int awarded, double save = 0, double restore = 0) {
    const SliceState& slice = on.state.slice(on.state.job_state(job).slice);
    candidates_.push_back(candidate(job, on.fleet.kinds()[slice.kind].size));
    candidates_.back().size = static_cast<std::int8_t>(awarded);
    stoppable_.push_back({job, &candidates_.back(), save, restore});
  }
  void begin() { rooms.begin(view, terms, stoppable_); }
  // The cheapest way, or nothing.
  std::optional<Rooms::Option> find(const Candidate& candidate, bool may_wait = true,
                                    int largest = kSizeCount - 1) {
    Rooms::Option option;
    if (!rooms.find(candidate, largest, may_wait, 0, option)) return std::nullopt;
    return option;
  }
  // "4@0 free" of an option on the only GPU.
  std::string name(const std::optional<Rooms::Option>& option) {
    if (!option) return "nothing";
    constexpr std::array kWays = {"free", "wait", "stop"};
    return fmt::format("{}@{} {}", kSizes[option->size],
                       on.fleet.board(option->gpu).slots[option->slot].start,
                       kWays[static_cast<std::size_t>(option->way)]);
  }
  // The new layouts: "0: 4-2".
  std::string repartitions() {
    std::vector<Repartition> changes;
    rooms.add_repartitions(changes);
    std::string text;
    for (const Repartition& change : changes) {
      text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", change.gpu,
                          layout_name(on.fleet.board(change.gpu), change.target));
    }
    return text.empty() ? "none" : text;
  }

  Situation on;
  View view;
  RoomTerms terms;
  Rooms rooms;
  std::vector<JobIndex> stops;

 private:
  Award award_;
  std::vector<Candidate> candidates_;
  std::vector<Rooms::Stoppable> stoppable_;
};

TEST(Rooms, AFreeSliceStartsAtOnceAndOneToBeMadeWhenItIs) {
  OnRooms on("A100-40GB", "4-3", {make_job(kLinearS, 60)}, Costs::real());
  on.on.arrive(0, 0);
  on.begin();
  EXPECT_TRUE(on.rooms.any_free());
  const auto there = on.find(on.only_on(0, 4), false);
  EXPECT_EQ(on.name(there), "4@0 free");
  EXPECT_EQ(there->start, 0);
  const auto made = on.find(on.only_on(0, 7), false);
  EXPECT_EQ(on.name(made), "7@0 free");
  const BoardTimes& times = on.on.fleet.board(0).times;
  EXPECT_NEAR(made->start, to_min(times.create_us[4] + times.destroy_us[4]), 1e-12);
  EXPECT_GT(made->start, 0);
}

TEST(Rooms, NothingIsFreeOnAGpuThatIsDown) {
  OnRooms on("A100-40GB", "7", {make_job(kLinearS, 60)});
  on.on.arrive(0, 0);
  on.on.state.fail(0);
  on.begin();
  EXPECT_FALSE(on.rooms.any_free());
  EXPECT_EQ(on.name(on.find(on.candidate(0))), "nothing");
}

TEST(Rooms, AnOccupiedSliceIsWaitedForAsLongAsItsJobRunsTimesDistrust) {
  OnRooms on("A100-40GB", "7", {flat_job(600, 1000), make_job(kLinearS, 60)});
  on.on.run(0, 0, 0);
  on.on.arrive(1, 1);
  on.on.state.set_now(to_us(120));
  on.terms.distrust = 1.5;
  on.begin();
  EXPECT_FALSE(on.rooms.any_free());
  EXPECT_EQ(on.name(on.find(on.candidate(1), false)), "nothing");
  const auto waits = on.find(on.only_on(1, 7));
  EXPECT_EQ(on.name(waits), "7@0 wait");
  EXPECT_NEAR(waits->start, 8 * 1.5, 1e-9);
  EXPECT_EQ(waits->loss, 0);
}

TEST(Rooms, ASliceIsWaitedForUntilItsStoppedJobHasSaved) {
  OnRooms on("A100-40GB", "7", {flat_job(6000, 9000, kTraining), make_job(kLinearS, 60)},
             Costs::real());
  on.on.run(0, 0, 0);
  on.on.arrive(1, 1);
  on.on.state.set_now(to_us(600));
  const TimeUs end = on.on.state.stop(0);
  on.begin();
  const auto waits = on.find(on.only_on(1, 7));
  EXPECT_EQ(on.name(waits), "7@0 wait");
  EXPECT_GT(waits->start, 0);
  EXPECT_NEAR(waits->start, to_min(end - to_us(600)), 1e-12);
}

// The victim has 100 minutes to go. Stopped, it comes back after `back` minutes if it would get
// what it has, half of that if less, at once if nothing; saves half a minute and restores a
// quarter.
double loss_of_stopping(double deadline_min, int awarded, double waste = 0) {
  OnRooms on("A100-40GB", "7",
             {flat_job(6000, 60 * deadline_min, kTraining), make_job(kLinearS, 60)});
  on.on.run(0, 0, 0);
  on.on.arrive(1, 1);
  on.terms.stop = 2;
  on.terms.back = 3;
  on.terms.waste = waste;
  on.stoppable(0, awarded, 0.5, 0.25);
  on.begin();
  const auto stops = on.find(on.only_on(1, 7));
  EXPECT_EQ(on.name(stops), "7@0 stop");
  EXPECT_NEAR(stops->start, 0.5, 1e-12) << "when it has saved";
  return stops->loss;
}

TEST(Rooms, AStopCostsItselfAndTheTardinessOfWhoIsStopped) {
  EXPECT_NEAR(loss_of_stopping(1000, 4), 2, 1e-9) << "it has time";
  EXPECT_NEAR(loss_of_stopping(0, 4), 2 + 3 + 0.75, 1e-9);
  EXPECT_NEAR(loss_of_stopping(0, 2), 2 + 1.5 + 0.75, 1e-9);
  EXPECT_NEAR(loss_of_stopping(0, -1), 2 + 0.75, 1e-9);
  EXPECT_NEAR(loss_of_stopping(102, 4), 2 + 1.75, 1e-9) << "two minutes are to spare";
  EXPECT_NEAR(loss_of_stopping(1000, 4, 0.1), 2 + 0.1 * 7 * 0.75, 1e-9) << "seven slices idle";
}

TEST(Rooms, OnlyThoseInTheWayAreStoppedAndOnlyIfAllMayBe) {
  // Jobs 0 and 1 run on the 2g at 0 and 2, job 2 on the 3g; job 3 waits for a 4g, in the place of
  // the first two.
  const std::vector<Job> jobs = {flat_job(60'000, 0, kTraining), flat_job(60'000, 0, kTraining),
                                 flat_job(60'000, 0, kTraining), make_job(kLinearS, 60)};
  for (const bool both : {true, false}) {
    OnRooms on("A100-40GB", "3-2-2", jobs);
    const Board& board = on.on.fleet.board(0);
    std::vector<std::uint32_t> starts;
    for (SlotSet rest = on.on.state.gpu(0).present; rest; rest &= rest - 1)
      starts.push_back(board.slots[std::countr_zero(rest)].start);
    ASSERT_EQ(starts, (std::vector<std::uint32_t>{0, 2, 4}));
    for (JobIndex job = 0; job < 3; ++job) on.on.run(job, 0, starts[job]);
    on.on.arrive(3, 3);
    on.terms.stop = 1;
    on.stoppable(0, 4);
    if (both) on.stoppable(1, 4);
    on.stoppable(2, 4);
    on.begin();
    const auto found = on.find(on.only_on(3, 4));
    ASSERT_EQ(on.name(found), both ? "4@0 stop" : "4@0 wait");
    if (!both) continue;
    EXPECT_NEAR(found->loss, 2, 1e-9);
    on.rooms.take(*found, 10, on.stops);
    EXPECT_EQ(on.stops, (std::vector<JobIndex>{0, 1}));
    EXPECT_EQ(on.repartitions(), "0: 4-3");
    EXPECT_EQ(on.name(on.find(on.only_on(3, 2), false)), "nothing") << "4g and 3g leave no room";
  }
}

TEST(Rooms, WhatIsTakenIsNoLongerFreeAndItsEndIsWaitedFor) {
  OnRooms on("A100-40GB", "4-3", {make_job(kLinearS, 60)});
  on.on.arrive(0, 0);
  on.begin();
  on.rooms.take(*on.find(on.only_on(0, 4)), 12, on.stops);
  EXPECT_TRUE(on.stops.empty());
  EXPECT_EQ(on.repartitions(), "none") << "the slice is there";
  const auto again = on.find(on.only_on(0, 4));
  EXPECT_EQ(on.name(again), "4@0 wait");
  EXPECT_NEAR(again->start, 12, 1e-12);
  EXPECT_EQ(on.name(on.find(on.only_on(0, 3), false)), "3@4 free");
  on.rooms.take(*on.find(on.only_on(0, 2)), 5, on.stops);
  EXPECT_EQ(on.repartitions(), "0: 4-2");
  EXPECT_EQ(on.name(on.find(on.only_on(0, 1), false)), "1@6 free");
}

TEST(Rooms, WhoWaitsTakesNothingButItsTurn) {
  OnRooms on("A100-40GB", "7", {flat_job(600, 1000), make_job(kLinearS, 60)});
  on.on.run(0, 0, 0);
  on.on.arrive(1, 1);
  on.begin();
  const auto first = on.find(on.only_on(1, 7));
  EXPECT_NEAR(first->start, 10, 1e-9);
  on.rooms.take(*first, 4, on.stops);
  EXPECT_TRUE(on.stops.empty());
  EXPECT_EQ(on.repartitions(), "none");
  EXPECT_NEAR(on.find(on.only_on(1, 7))->start, 14, 1e-9);
}

TEST(Rooms, APlaceOfSeveralIsWaitedForUntilTheLastHasEnded) {
  OnRooms on("A100-40GB", "3-2-2",
             {flat_job(600, 1000), flat_job(300, 1000), make_job(kLinearS, 60)});
  on.on.run(0, 0, 0);
  on.on.run(1, 0, 2);
  on.on.arrive(2, 2);
  on.begin();
  const auto found = on.find(on.only_on(2, 4));
  EXPECT_EQ(on.name(found), "4@0 wait");
  EXPECT_NEAR(found->start, 10, 1e-9);
}

// While a GPU fills up, against every slot that is left: tardiness, the energy of the added watts
// and the room that is lost.
TEST(Rooms, FindsTheCheapestOfAllSlots) {
  Random random(11, "rooms");
  for (int round = 0; round < 200; ++round) {
    OnRooms on("A100-40GB", "7", {make_job(kLinearS, random.uniform(0, 3000))});
    on.on.arrive(0, 0);
    on.terms.energy = std::exp(random.uniform(-8, 1));
    on.terms.room = std::exp(random.uniform(-4, 4));
    on.begin();
    const Candidate candidate = on.candidate(0);
    const Board& board = on.on.fleet.board(0);
    const auto room = [&](SlotSet used) {
      return largest_creatable(board, used) + 0.1 * (7 - compute_slices(board, used));
    };
    for (SlotSet used = 0;;) {
      const int largest = static_cast<int>(random.below(kSizeCount));
      const auto cost = [&](int size, int slot) {
        const double minutes = candidate.minutes[size];
        const int busy = compute_slices(board, used);
        const double watts = board.power.busy_w[busy + kSizes[size]] - board.power.busy_w[busy];
        return late_minutes(0, minutes, candidate.slack) + on.terms.energy * watts * minutes +
               on.terms.room * (room(used) - room(used | SlotSet{1} << slot));
      };
      double least = 1e300;
      for (int size = 0; size <= largest; ++size) {
        for (SlotSet rest = board.profile_slots[board.base_profile(kSizes[size])]; rest;
             rest &= rest - 1) {
          const int slot = std::countr_zero(rest);
          if (can_add(board, used, slot)) least = std::min(least, cost(size, slot));
        }
      }
      const auto found = on.find(candidate, false, largest);
      ASSERT_EQ(found.has_value(), least < 1e300) << "round " << round;
      if (!found) break;
      EXPECT_LE(found->size, largest);
      EXPECT_NEAR(cost(found->size, found->slot), least, 1e-9 * least) << "round " << round;
      on.rooms.take(*found, 5, on.stops);
      used |= SlotSet{1} << found->slot;
    }
  }
}

TEST(Rooms, OfManyGpusTheMostPromisingStayInView) {
  OnRooms on("200xA100-40GB", "7*150,1-1-1-1-1-1-1,7*49", {make_job(kLinearS, 60)}, Costs::real());
  on.on.arrive(0, 0);
  on.begin();
  const auto found = on.find(on.only_on(0, 1));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->gpu, 150u) << "the only one that need not make the slice";
  EXPECT_EQ(found->start, 0);
}

// As many as are kept in view, one after the other, against all of the fleet.
TEST(Rooms, OfManyBusyGpusTheFirstToEndAndTheCheapestToStopStayInView) {
  constexpr int kGpus = 500;
  constexpr int kTakes = 60;
  for (const bool stop : {false, true}) {
    Random random(stop, "busy rooms");
    std::vector<Job> jobs;
    std::vector<std::pair<double, GpuIndex>> expected;
    for (GpuIndex gpu = 0; gpu < kGpus; ++gpu) {
      const double seconds = 3000 + std::floor(random.uniform(0, 1500));
      // One whose deadline is near is late by every minute of a stop; some are all the same.
      const double slack = random.below(4) == 0 ? 900 : std::floor(random.uniform(0, 900));
      jobs.push_back(flat_job(seconds, seconds + slack, kTraining));
      expected.emplace_back(stop ? std::max(0.0, 15 - slack / 60) : seconds / 60, gpu);
    }
    jobs.push_back(make_job(kLinearS, 60));
    OnRooms on("500xA100-40GB", "7*500", std::move(jobs));
    for (GpuIndex gpu = 0; gpu < kGpus; ++gpu) on.on.run(gpu, gpu, 0);
    on.on.arrive(kGpus, kGpus);
    on.terms.back = 15;
    if (stop) {
      for (GpuIndex gpu = 0; gpu < kGpus; ++gpu) on.stoppable(gpu, kSizeCount - 1);
    }
    on.begin();
    std::sort(expected.begin(), expected.end());
    const Candidate candidate = on.only_on(kGpus, 7);
    for (int i = 0; i < kTakes; ++i) {
      SCOPED_TRACE(i);
      const auto found = on.find(candidate);
      ASSERT_TRUE(found);
      ASSERT_EQ(found->way, stop ? Rooms::Way::kStop : Rooms::Way::kWait);
      EXPECT_NEAR(stop ? found->loss : found->start, expected[static_cast<std::size_t>(i)].first,
                  1e-9);
      on.rooms.take(*found, 1e6, on.stops);
    }
  }
}

TEST(Rooms, AJobIsWorthMovingForWhatItGainsAfterItsSaveAndRestore) {
  // 70 minutes on the 1g against 17.5 on the free 4g.
  OnRooms on("A100-40GB", "4-2-1", {make_job(kLinearS, 0, kTraining)});
  on.on.run(0, 0, 6);
  on.stoppable(0, 3, 1, 0.5);
  on.begin();
  const double gain = 70 - 17.5 - 1.5;
  EXPECT_EQ(on.rooms.worth_moving(gain - 1e-6), 0u);
  EXPECT_EQ(on.rooms.worth_moving(gain + 1e-6), kNone);
}

TEST(Rooms, AMoveCostsWhatItsNewSlicesDoNotDoMeanwhile) {
  OnRooms on("A100-40GB", "4-2-1", {make_job(kLinearS, 0, kTraining)});
  on.on.run(0, 0, 6);
  on.terms.waste = 2;
  on.stoppable(0, 3, 1, 0.5);
  on.begin();
  const double gain = 70 - 17.5 - 1.5 - 2 * 4 * 1.5;
  EXPECT_EQ(on.rooms.worth_moving(gain - 1e-6), 0u);
  EXPECT_EQ(on.rooms.worth_moving(gain + 1e-6), kNone);
}

TEST(Rooms, AJobIsNotMovedWhereItWasAwardedNoMore) {
  for (const int awarded : {-1, 0}) {
    OnRooms on("A100-40GB", "4-2-1", {make_job(kLinearS, 0, kTraining)});
    on.on.run(0, 0, 6);
    on.stoppable(0, awarded);
    on.begin();
    EXPECT_EQ(on.rooms.worth_moving(0), kNone);
  }
}

TEST(Rooms, AJobCanGrowIntoItsOwnPlaceButNotIntoAnothers) {
  for (const bool alone : {true, false}) {
    OnRooms on("A100-40GB", "4-3", {make_job(kLinearS, 0, kTraining), flat_job(60, 1000)});
    on.on.run(0, 0, 4);
    if (!alone) on.on.run(1, 0, 0);
    on.stoppable(0, 4);
    on.begin();
    EXPECT_FALSE(on.find(on.only_on(0, 7), false)) << "its own slice is in the way";
    // 23.3 minutes where it is, 17.5 on the 4g, 10 on the whole GPU.
    EXPECT_EQ(on.rooms.worth_moving(10), alone ? 0u : kNone);
  }
}

// Whatever is taken: a new target is legal, has what was promised, and keeps every slice whose job
// was not stopped.
TEST(Rooms, RepartitionsKeepEverySliceInUse) {
  Random random(13, "repartitions");
  int changes = 0;
  for (int round = 0; round < 400; ++round) {
    std::vector<Job> jobs;
    for (int i = 0; i < 30; ++i) {
      jobs.push_back(make_job(kLinearS, random.uniform(0, 5000), kTraining));
    }
    OnRooms on("3xA100-40GB", "4-2-1,3-2-1-1,2-2-2-1", jobs);
    const Fleet& fleet = on.on.fleet;
    JobIndex next = 0;
    for (GpuIndex gpu = 0; gpu < 3; ++gpu) {
      for (SlotSet rest = on.on.state.gpu(gpu).present; rest; rest &= rest - 1) {
        if (random.below(3) == 0) continue;
        on.on.run(next, gpu, fleet.board(gpu).slots[std::countr_zero(rest)].start);
        if (random.below(2) == 0) on.stoppable(next, static_cast<int>(random.below(6)) - 1);
        ++next;
      }
    }
    std::array<SlotSet, 3> promised{};
    for (GpuIndex gpu = 0; gpu < 3; ++gpu) promised[gpu] = on.view.slots_in_use(gpu);
    on.on.arrive(next, 29);
    on.begin();
    for (JobIndex job = next; job < 30; ++job) {
      const auto option = on.find(on.candidate(job), random.below(2) == 0,
                                  static_cast<int>(random.below(kSizeCount)));
      if (!option) continue;
      on.stops.clear();
      on.rooms.take(*option, 5, on.stops);
      for (const JobIndex stopped : on.stops) {
        const SliceId slice = on.view.job(stopped).slice;
        ASSERT_EQ(fleet.gpu_of(slice), option->gpu);
        promised[option->gpu] &= ~(SlotSet{1} << on.view.slice(slice).slot);
      }
      if (option->way != Rooms::Way::kWait) promised[option->gpu] |= SlotSet{1} << option->slot;
    }
    std::vector<Repartition> repartitions;
    on.rooms.add_repartitions(repartitions);
    std::array<SlotSet, 3> targets{};
    for (GpuIndex gpu = 0; gpu < 3; ++gpu) targets[gpu] = on.view.gpu(gpu).target;
    for (const Repartition& change : repartitions) targets[change.gpu] = change.target;
    changes += static_cast<int>(repartitions.size());
    for (GpuIndex gpu = 0; gpu < 3; ++gpu) {
      EXPECT_TRUE(is_legal(fleet.board(gpu), targets[gpu])) << "round " << round;
      EXPECT_EQ(promised[gpu] & ~targets[gpu], 0u) << "round " << round << ", GPU " << gpu;
    }
  }
  EXPECT_GT(changes, 400);
}

}  // namespace
}  // namespace smartmig
