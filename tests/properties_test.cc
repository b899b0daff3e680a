// What must hold in every run, whatever the policy: checked at every instant by an auditor that
// looks at the state from outside and keeps its own books.
#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <set>

#include "foresight/named_policies.h"
#include "random_case.h"
#include "sim/metrics.h"

namespace smartmig {
namespace {

class Auditor {
 public:
  Auditor(const Engine& engine, const RandomCase& random)
      : engine_(engine),
        fleet_(engine.state().fleet()),
        random_(random),
        books_(random.jobs.jobs.size()) {
    time_us_ = engine.begin_us();
  }

  // The engine has gone one instant further.
  void look() {
    const State& state = engine_.state();
    pass_time(state.now());
    check_layouts();
    check_slices();
  }

  void finish() {
    for (std::size_t j = 0; j < books_.size(); ++j) {
      const Job& job = random_.jobs.jobs[j];
      EXPECT_GE(engine_.finish_us()[j], job.submit_us)
          << "job " << j << " was lost or ended before its release";
      // Each stretch of a job rounds its end to a microsecond.
      const double rounding =
          1e-9 + 2.0 * (books_[j].stretches + 1) / static_cast<double>(shortest_us(job));
      EXPECT_NEAR(books_[j].done, 1, rounding) << "work done is not work asked, job " << j;
    }
    wait_for_last_submit();
    if (!engine_.state().costs().real_power) {
      EXPECT_NEAR(energy_j_, engine_.energy_j(), 1e-6 * (1 + energy_j_));
    }
    check_records();
  }

 private:
  struct Book {
    double done = 0;     // Saved work.
    double stretch = 0;  // Work since the last start.
    SliceId slice = kNone;
    TimeUs begin_us = 0;
    int stretches = 0;
  };

  TimeUs shortest_us(const Job& job) const {
    TimeUs least = kNever;
    for (const TimeUs us : job.time_us) least = us > 0 ? std::min(least, us) : least;
    return least;
  }

  bool failed_now(GpuIndex gpu, TimeUs now) const {
    return std::any_of(random_.events.begin(), random_.events.end(), [&](const GpuEvent& event) {
      return event.gpu == gpu && event.fail && std::max(event.at_us, engine_.begin_us()) == now;
    });
  }

  // A trace goes on after its last completion where jobs that fit no slice were left out.
  void wait_for_last_submit() {
    const TimeUs seen_us = time_us_;
    for (const GpuEvent& event : random_.events) {
      if (event.at_us <= seen_us || event.at_us > engine_.charged_end_us()) continue;
      pass_time(event.at_us);
      up_[event.gpu] = !event.fail;
    }
    pass_time(engine_.charged_end_us());
  }

  // On a trace, what a board draws without a job after the last submit is charged once it has one
  // again.
  void charge(GpuIndex gpu, int busy, TimeUs from, TimeUs to) {
    const double watts = fleet_.board(gpu).power.busy_w[busy];
    const auto& trace = random_.jobs.trace;
    const TimeUs last = trace ? std::clamp(trace->last_submit_us, from, to) : to;
    energy_j_ += watts * to_s(last - from);
    open_j_.resize(fleet_.gpu_count(), 0);
    open_j_[gpu] += watts * to_s(to - last);
    if (busy == 0 || from == to) return;
    energy_j_ += open_j_[gpu];
    open_j_[gpu] = 0;
  }

  // Between the last look and now nothing changed: what ran then ran on.
  void pass_time(TimeUs now) {
    for (GpuIndex gpu = 0; gpu < fleet_.gpu_count(); ++gpu) {
      if (up_.size() > gpu && !up_[gpu]) continue;
      charge(gpu, up_.size() > gpu ? busy_[gpu] : 0, time_us_, now);
    }
    const State& state = engine_.state();
    for (JobIndex j = 0; j < books_.size(); ++j) {
      Book& book = books_[j];
      if (book.slice == kNone) continue;
      const TimeUs from = std::max(time_us_, book.begin_us);
      if (now > from && !saving_.contains(j))
        book.stretch += static_cast<double>(now - from) / full_us_[j];
      const JobState& job = state.job_state(j);
      const bool still_there =
          (job.status == JobStatus::kRunning || job.status == JobStatus::kSaving) &&
          job.slice == book.slice && restart_us(job) == book.begin_us;
      if (still_there) continue;
      // A completion, or a save that ends, counts although its GPU fails at the same time.
      const auto save = saving_.find(j);
      const bool saved = save != saving_.end() && save->second == now;
      const bool lost =
          failed_now(fleet_.gpu_of(book.slice), now) && job.status != JobStatus::kDone && !saved;
      if (!lost) book.done += book.stretch;
      book.stretch = 0;
      book.slice = kNone;
    }
    time_us_ = now;
  }

  TimeUs restart_us(const JobState& job) const {
    // A save moves the slice's times; the start it belongs to is the one in the books.
    return job.status == JobStatus::kSaving ? books_[&job - &engine_.state().job_state(0)].begin_us
                                            : engine_.state().slice(job.slice).begin_us;
  }

  void check_layouts() {
    const State& state = engine_.state();
    busy_.assign(fleet_.gpu_count(), 0);
    up_.assign(fleet_.gpu_count(), false);
    for (GpuIndex gpu = 0; gpu < fleet_.gpu_count(); ++gpu) {
      up_[gpu] = state.gpu(gpu).up;
      ASSERT_TRUE(is_legal(fleet_.board(gpu), state.gpu(gpu).present))
          << "illegal layout on GPU " << gpu;
      ASSERT_TRUE(is_legal(fleet_.board(gpu), state.gpu(gpu).target))
          << "illegal target on GPU " << gpu;
    }
  }

  void check_slices() {
    const State& state = engine_.state();
    std::set<JobIndex> seen;
    saving_.clear();
    for (SliceId id = 0; id < fleet_.slice_count(); ++id) {
      const SliceState& slice = state.slice(id);
      if (slice.job == kNone) continue;
      const GpuIndex gpu = fleet_.gpu_of(id);
      const Job& job = random_.jobs.jobs[slice.job];
      ASSERT_TRUE(seen.insert(slice.job).second) << "job " << slice.job << " runs on two slices";
      ASSERT_TRUE(state.gpu(gpu).present >> slice.slot & 1) << "a job on a slice that is not there";
      ASSERT_EQ(state.job_state(slice.job).slice, id);
      ASSERT_GE(state.now(), job.submit_us) << "job " << slice.job << " runs before its release";
      ASSERT_TRUE(fleet_.kinds_for(job) >> slice.kind & 1)
          << "job " << slice.job << " does not run on this slice";
      busy_[gpu] += fleet_.kinds()[slice.kind].compute;
      ASSERT_LE(busy_[gpu], fleet_.board(gpu).compute_slices);
      Book& book = books_[slice.job];
      if (state.job_state(slice.job).status == JobStatus::kSaving)
        saving_[slice.job] = slice.end_us;
      if (book.slice != id) {
        book.slice = id;
        book.begin_us = slice.begin_us;
        book.stretch = 0;
        ++book.stretches;
      }
      full_us_[slice.job] = fleet_.full_us(job, slice.kind);
    }
    for (JobIndex j = 0; j < books_.size(); ++j) {
      const JobState& job = state.job_state(j);
      const bool on_slice = job.status == JobStatus::kRunning || job.status == JobStatus::kSaving;
      ASSERT_EQ(on_slice, seen.contains(j)) << "job " << j;
    }
  }

  // The records tell the same story: power steps integrate to the energy, job shares do not exceed
  // it.
  void check_records() {
    const Records& records = *engine_.records();
    std::vector<TimeUs> since(fleet_.gpu_count(), engine_.begin_us());
    std::vector<double> watts(fleet_.gpu_count(), 0);
    double sum = 0;
    TimeUs last = engine_.begin_us();
    for (const PowerRecord& step : records.power()) {
      ASSERT_GE(step.at_us, last);
      last = step.at_us;
      if (step.at_us > engine_.charged_end_us()) break;
      sum += watts[step.gpu] * to_s(step.at_us - since[step.gpu]);
      since[step.gpu] = step.at_us;
      watts[step.gpu] = step.watts;
    }
    for (GpuIndex gpu = 0; gpu < fleet_.gpu_count(); ++gpu)
      sum += watts[gpu] * to_s(engine_.charged_end_us() - since[gpu]);
    const double energy = engine_.energy_j();
    EXPECT_NEAR(sum, energy, 1e-6 * (1 + energy)) << "power steps do not integrate to the energy";
    double shares = 0;
    for (const double share : engine_.state().power().job_energy_j()) shares += share;
    EXPECT_LE(shares, energy * (1 + 1e-9));
    const double seconds = to_s(engine_.charged_end_us() - engine_.begin_us());
    EXPECT_NEAR(records.means().power_w * seconds, energy, 1e-6 * (1 + energy));
    for (std::size_t j = 0; j < books_.size(); ++j) {
      EXPECT_GE(records.jobs()[j].first_start_us, random_.jobs.jobs[j].submit_us);
      EXPECT_LT(records.jobs()[j].first_start_us, engine_.finish_us()[j]);
    }
  }

  const Engine& engine_;
  const Fleet& fleet_;
  const RandomCase& random_;
  std::vector<Book> books_;
  std::map<JobIndex, TimeUs> saving_;  // With the ends of their saves.
  std::map<JobIndex, double> full_us_;
  std::vector<int> busy_;
  std::vector<bool> up_;
  TimeUs time_us_ = 0;
  double energy_j_ = 0;
  std::vector<double> open_j_;  // By GPU: drawn, but not charged so far.
};

EngineOptions options_with_records(const RandomCase& random) {
  EngineOptions options = engine_options(random);
  options.records = true;
  return options;
}

// Those that the reference does not have take their turns with those it has.
std::string_view ours_now_and_then(int i) {
  return i % 5 == 0 ? "smartmig" : i % 5 == 1 ? "queue-prices" : "";
}

TEST(Properties, HoldAtEveryInstantOfEveryRun) {
  const int cases = case_count(10'000);
  for (int i = 0; i < cases && !HasFailure(); ++i) {
    const RandomCase random = random_case(11, static_cast<std::uint64_t>(i), ours_now_and_then(i));
    SCOPED_TRACE(fmt::format("case {}\n{}", i, random.describe()));
    const Fleet fleet = Fleet::parse(random.fleet).value();
    Engine engine(fleet, random.jobs, make_named_policy(random.policy, fleet).value(),
                  options_with_records(random));
    Auditor auditor(engine, random);
    // Where stops cost nothing, jobs could stop each other for ever.
    const std::size_t most_steps = 1000 + 1000 * random.jobs.jobs.size();
    std::size_t steps = 0;
    while (engine.step() && !HasFatalFailure() && ++steps < most_steps) auditor.look();
    ASSERT_EQ(engine.completed(), random.jobs.jobs.size()) << steps << " steps";
    auditor.finish();
  }
}

TEST(Properties, ACopiedEngineGoesOnLikeTheOriginal) {
  const int cases = case_count(10'000) / 5;
  for (int i = 0; i < cases && !HasFailure(); ++i) {
    const RandomCase random = random_case(13, static_cast<std::uint64_t>(i), ours_now_and_then(i));
    SCOPED_TRACE(fmt::format("case {}\n{}", i, random.describe()));
    const Fleet fleet = Fleet::parse(random.fleet).value();
    Engine engine(fleet, random.jobs, make_named_policy(random.policy, fleet).value(),
                  options_with_records(random));
    for (int step = i % 7; step > 0 && engine.step(); --step) {
    }
    Engine copy = engine;
    while (engine.step()) {
    }
    // The original is at its end before the copy takes its next step: they share nothing.
    while (copy.step()) {
    }
    ASSERT_TRUE(std::ranges::equal(engine.finish_us(), copy.finish_us()));
    ASSERT_EQ(engine.energy_j(), copy.energy_j());
    ASSERT_EQ(engine.state().preemptions(), copy.state().preemptions());
    ASSERT_EQ(engine.repartitions(), copy.repartitions());
  }
}

// A piece of work in a fixed order on one slice: the job runs until `until` of its work is left,
// then makes way.
struct Piece {
  JobIndex job = 0;
  double until = 0;
};

// Plays the pieces on the slices of `to`, after a change from layout `from`, with no policy: each
// piece starts as soon as its slice is there and free, its job released and its last piece saved.
// Returns the end of each job.
std::vector<TimeUs> play(const Fleet& fleet, const std::vector<Job>& jobs, SlotSet from, SlotSet to,
                         const std::map<int, std::vector<Piece>>& script, const Costs& costs) {
  State::Options options;
  options.costs = costs;
  options.preemption = Preemption::kCheckpoint;
  State state(fleet, jobs, options);
  state.place_initial(0, from);
  state.set_target(0, to);
  std::map<int, std::size_t> next;
  std::vector<TimeUs> ends(jobs.size(), -1);
  std::vector<bool> arrived(jobs.size(), false);
  const auto slice_of = [&](int slot) {
    return fleet.slice_at(0, fleet.board(0).slots[slot].start);
  };
  TimeUs now = 0;
  TimeUs operation_end = state.advance(0);
  for (;;) {
    // The stop of a piece that makes way is an instant of its own.
    TimeUs soonest = operation_end;
    for (JobIndex j = 0; j < jobs.size(); ++j) {
      if (!arrived[j] && jobs[j].submit_us <= now) state.arrive(j), arrived[j] = true;
      if (!arrived[j]) soonest = std::min(soonest, jobs[j].submit_us);
    }
    for (const auto& [slot, pieces] : script) {
      const SliceState& slice = state.slice(slice_of(slot));
      const bool there = slice.phase == SlicePhase::kReady && slice.slot == slot;
      std::size_t& at = next[slot];
      if (there && slice.job == kNone && at < pieces.size() &&
          state.job_state(pieces[at].job).status == JobStatus::kReady) {
        state.start({pieces[at].job, slice_of(slot), static_cast<std::uint8_t>(slot)});
      }
      if (!there || slice.job == kNone) continue;
      const JobState& job = state.job_state(slice.job);
      TimeUs stop = slice.end_us;
      if (job.status == JobStatus::kRunning && pieces[at].until > 0) {
        const double length = static_cast<double>(slice.end_us - slice.begin_us);
        stop =
            slice.begin_us + std::llround(length * std::max(0.0, 1 - pieces[at].until / job.left));
        stop = std::max(stop, now + 1);
      }
      soonest = std::min(soonest, stop);
    }
    if (soonest == kNever) return ends;
    now = soonest;
    state.set_now(now);
    if (operation_end == now) {
      state.end_operation(0);
      operation_end = state.advance(0);
    }
    for (const auto& [slot, pieces] : script) {
      const SliceId id = slice_of(slot);
      const SliceState& slice = state.slice(id);
      if (slice.phase != SlicePhase::kReady || slice.slot != slot || slice.job == kNone) continue;
      const JobIndex index = slice.job;
      if (state.job_state(index).status == JobStatus::kSaving) {
        if (slice.end_us == now) state.end_save(id), ++next[slot];
      } else if (slice.end_us == now) {
        state.complete(id);
        ends[index] = now;
        ++next[slot];
      } else if (pieces[next[slot]].until > 0) {
        const double length = static_cast<double>(slice.end_us - slice.begin_us);
        const double share =
            std::max(0.0, 1 - pieces[next[slot]].until / state.job_state(index).left);
        if (now >= std::max(slice.begin_us + TimeUs{std::llround(length * share)},
                            slice.begin_us + 1) &&
            state.stop(index) == kNever) {
          ++next[slot];  // Saved in no time.
        }
      }
    }
  }
}

TEST(Properties, RealCostsEndNoJobEarlierThanFreeOnesInAFixedOrder) {
  const int cases = case_count(10'000);
  int later = 0;
  const Fleet fleet = Fleet::parse("1xA100-40GB").value();
  const Board& board = fleet.board(0);
  const std::vector<SlotSet> all = legal_sets(board, base_slots(board));
  for (int i = 0; i < cases && !HasFailure(); ++i) {
    Random random(17, "fixed order", static_cast<std::uint64_t>(i));
    const SlotSet from = all[random.below(all.size())];
    const SlotSet to = all[1 + random.below(all.size() - 1)];
    std::vector<int> slots;
    for (SlotSet rest = to; rest; rest &= rest - 1) slots.push_back(std::countr_zero(rest));
    std::vector<Job> jobs;
    std::map<int, std::vector<Piece>> script;
    const std::size_t count = 1 + random.below(8);
    for (JobIndex j = 0; j < count; ++j) {
      Job job;
      job.submit_us = to_us(static_cast<double>(random.below(10)));
      job.kind = random.below(2) ? JobKind::kTraining : JobKind::kInference;
      for (auto& us : job.time_us) us = to_us(random.uniform(1, 60));
      jobs.push_back(job);
      auto& pieces = script[slots[random.below(slots.size())]];
      if (job.kind == JobKind::kTraining && random.below(2)) pieces.push_back({j, 0.5});
      pieces.push_back({j, 0});
    }
    const std::vector<TimeUs> free = play(fleet, jobs, from, to, script, Costs::free());
    const std::vector<TimeUs> real = play(fleet, jobs, from, to, script, Costs::real());
    for (std::size_t j = 0; j < jobs.size(); ++j) {
      ASSERT_GE(free[j], 0);
      // A stop rounds progress to whole microseconds.
      ASSERT_GE(real[j] + 2, free[j]) << "case " << i << " job " << j;
      later += real[j] > free[j] + 2;
    }
  }
  EXPECT_GT(later, cases / 2) << "the costs must show";
}

}  // namespace
}  // namespace smartmig
