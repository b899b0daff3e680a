// A fault of every call that is not about layouts: starts, stops by a drain and by a more urgent
// job, kills, looks at the end of a run, the fleet's events, and what a controller asks as it
// starts. No job runs twice or is lost, a fault that stays leaves a fenced GPU or a controller that
// says what is wrong, and all goes on once it is cleared.
#include <gtest/gtest.h>

#include "fault_bench.h"

namespace smartmig {
namespace {

using CommandKind = Command::Kind;

constexpr int kUsualCases = 120;
constexpr double kShortS = 200;  // Less than half a second here.
constexpr double kLongS = 1e6;   // Longer than any case takes.
constexpr double kSomedayS = 1e7;

// Jobs start on the first GPU only.
void begin(FaultBench& bench) {
  bench.tell(CommandKind::kCordon, 1);
  bench.freeze(false);
}

// Whatever is left is cancelled, and both GPUs are in use again.
std::string end(FaultBench& bench) {
  bench.clear();
  bench.tell(CommandKind::kUncordon, 0);
  bench.tell(CommandKind::kUncordon, 1);
  const auto left = [&] {
    const FleetSummary seen = bench.controller().summary();
    return seen.queued + seen.running;
  };
  for (JobNumber job = 1; left() > 0 && job < 100'000; ++job) {
    const auto answer = bench.controller().cancel(job, "test", "");
    if (!answer && answer.error().status == 404) break;
  }
  if (!wait_until([&] { return left() == 0; }))
    return fmt::format("{} jobs are left: {}", left(), bench.gpu(0).trouble);
  bench.freeze(true);
  return bench.comes_back("7", "7");
}

bool stays(const Aim& aim, const Strike& strike) {
  return strike.hangs() || (aim.for_ever && strike.fences());
}

JobNumber start_long(FaultBench& bench) {
  const JobNumber job = bench.submit(kLongS, kSomedayS);
  EXPECT_TRUE(bench.comes_to(job, JobPhase::kRunning));
  return job;
}

// Only another start tells whether the fault is over: the GPU is fenced after each that fails, for
// ever longer, and the job goes elsewhere.
std::string run_start(FaultBench& bench, const Aim& aim, const Strike& strike) {
  begin(bench);
  bench.inject(aim, strike);
  const JobNumber job = bench.submit(kShortS, 900);
  if (stays(aim, strike)) {
    if (const auto what = bench.is_fenced(strike); !what.empty()) return what;
    bench.tell(CommandKind::kUncordon, 1);
    // Nobody can tell whether it runs while the call is out.
    if (strike.hangs()) bench.clear();
  }
  if (!bench.comes_to(job, JobPhase::kDone)) return "the job does not come to its end";
  return end(bench);
}

std::string run_drain(FaultBench& bench, const Aim& aim, const Strike& strike) {
  begin(bench);
  const JobNumber job = start_long(bench);
  bench.tell(CommandKind::kUncordon, 1);
  bench.inject(aim, strike);
  bench.tell(CommandKind::kDrain, 0);
  if (stays(aim, strike)) {
    if (const auto what = bench.is_fenced_alone(strike); !what.empty()) return what;
    if (strike.kind != Strike::Kind::kHangDone && bench.row(job).attempt != 1)
      return "it was started elsewhere";
    bench.freeze(false);
    bench.clear();
  }
  if (!bench.comes_to(job, JobPhase::kRunning, 2))
    return "the job does not go on elsewhere: " + bench.gpu(0).trouble;
  return end(bench);
}

// An urgent job pushes out the one that has time.
std::string run_displacement(FaultBench& bench, const Aim& aim, const Strike& strike) {
  begin(bench);
  const JobNumber displaced = start_long(bench);
  bench.inject(aim, strike);
  const JobNumber urgent = bench.submit(kShortS, 300, "bert-inference");
  if (stays(aim, strike)) {
    if (const auto what = bench.is_fenced(strike); !what.empty()) return what;
    if (strike.kind != Strike::Kind::kHangDone && bench.row(displaced).attempt != 1)
      return "the job was started again";
    bench.clear();
  }
  if (!bench.comes_to(urgent, JobPhase::kDone))
    return "the urgent job does not come to its end: " + bench.gpu(0).trouble;
  if (!bench.comes_to(displaced, JobPhase::kRunning)) return "the displaced job does not go on";
  return end(bench);
}

std::string run_cancel(FaultBench& bench, const Aim& aim, const Strike& strike) {
  begin(bench);
  const JobNumber job = start_long(bench);
  bench.inject(aim, strike);
  if (!bench.controller().cancel(job, "test", "")) return "the cancelling is refused";
  if (stays(aim, strike)) {
    bench.tell(CommandKind::kUncordon, 1);
    if (const auto what = bench.is_fenced_alone(strike); !what.empty()) return what;
    if (is_final(bench.row(job).phase) && strike.kind != Strike::Kind::kHangDone)
      return "the job counts as cancelled and runs";
    bench.clear();
  }
  if (!bench.comes_to(job, JobPhase::kCancelled))
    return "it is not cancelled: " + bench.gpu(0).trouble;
  return end(bench);
}

// Nothing is heard of the fleet.
std::string run_deaf(FaultBench& bench, const Aim& aim, const Strike& strike) {
  begin(bench);
  bench.inject(aim, strike);
  const JobNumber job = bench.submit(kShortS, 900);
  if (aim.for_ever && strike.fences()) {
    if (!wait_until([&] {
          return bench.controller().summary().trouble.find("events are not received") !=
                 std::string::npos;
        }))
      return "nobody is told";
    bench.clear();
  }
  if (!bench.comes_to(job, JobPhase::kDone)) return "the job does not come to its end";
  // The call that was under way before the fault may have told of that job, but not of this one.
  if (!bench.comes_to(bench.submit(kShortS, 900), JobPhase::kDone))
    return "the next job does not come to its end";
  if (!wait_until([&] { return bench.controller().summary().trouble.empty(); }))
    return "it stays in trouble: " + bench.controller().summary().trouble;
  return end(bench);
}

// A controller that cannot have the fleet says so in one line; the next one takes up what runs.
std::string run_boot(FaultBench& bench, const Aim& aim, const Strike& strike) {
  begin(bench);
  const JobNumber job = start_long(bench);
  bench.stop_controller();
  bench.inject(aim, strike);
  const auto refused = bench.start_controller();
  // A claim that is made and denied may be had once more.
  if (!refused && refused.error().message.find('\n') != std::string::npos)
    return "more than one line: " + refused.error().message;
  if (refused && strike.kind != Strike::Kind::kSlow) return "it has not met the fault";
  bench.clear();
  if (!refused) bench.restart_controller();
  const JobRow row = bench.row(job);
  if (row.attempt != 1 || row.phase != JobPhase::kRunning) return "the job does not go on";
  return end(bench);
}

// The controller is gone while a call is out, or after it went wrong.
std::string run_restart(FaultBench& bench, const Aim& aim, const Strike& strike) {
  bench.inject(aim, strike);
  const bool layout = aim.call == "create" || aim.call == "destroy" || aim.call == "read";
  begin(bench);
  const JobNumber job = layout ? 0 : bench.submit(kShortS, 900);
  if (layout && !bench.apply(0, "4-3")) return "the change is refused";
  (void)wait_until([&] { return bench.all_struck(); }, aim.for_ever ? 0.1 : 1);
  bench.restart_controller();
  bench.clear();
  if (!layout && !bench.comes_to(job, JobPhase::kDone))
    return fmt::format("the job does not come to its end: it is {}, {}; GPU 0 {}: {}",
                       to_string(bench.row(job).phase), bench.row(job).note, bench.gpu(0).state,
                       bench.gpu(0).trouble);
  if (const auto what = bench.comes_back("7", "4-3"); !what.empty()) return what;
  if (!wait_until([&] { return bench.apply(0, "7"); })) return "no layout can be had";
  return end(bench);
}

struct Scenario {
  const char* name;
  std::vector<const char*> calls;
  std::string (*run)(FaultBench&, const Aim&, const Strike&);
  bool acts = true;  // The call has effects.
};

std::vector<FaultCase> run_cases() {
  const std::vector<Scenario> scenarios = {
      {"start", {"start"}, run_start},
      {"drain", {"stop"}, run_drain},
      {"displacement", {"stop"}, run_displacement},
      {"cancel", {"kill"}, run_cancel},
      {"events", {"events"}, run_deaf, false},
      {"boot", {"claim", "events"}, run_boot, false},
      {"restart", {"create", "destroy", "read", "start"}, run_restart},
  };
  std::vector<FaultCase> cases;
  for (const Scenario& scenario : scenarios) {
    for (const char* call : scenario.calls) {
      for (const Strike& strike : every_strike()) {
        for (const bool for_ever : {false, true}) {
          if (for_ever && strike.kind == Strike::Kind::kLate) continue;
          if (!scenario.acts && strike.is_about_effects()) continue;
          const Aim aim{call, 1, for_ever};
          const std::string name = fmt::format("{}: {} {}{}", scenario.name, strike.name, call,
                                               for_ever ? " for ever" : "");
          const auto run = [run = scenario.run, aim, strike](FaultBench& bench) {
            return run(bench, aim, strike);
          };
          cases.push_back({name, FaultBench::Kind::kIdle, run});
          // Nor can one look for a while.
          const bool about_a_run = std::string_view(call) == "start" ||
                                   std::string_view(call) == "stop" ||
                                   std::string_view(call) == "kill";
          if (!about_a_run || for_ever) continue;
          cases.push_back({name + ", blind", FaultBench::Kind::kIdle, [run](FaultBench& bench) {
                             bench.blind(1, 4);
                             return run(bench);
                           }});
        }
      }
    }
  }
  return cases;
}

TEST(LiveRunFaults, LoseNoJobAndRunNoneTwice) { run_fault_cases(run_cases(), kUsualCases); }

}  // namespace
}  // namespace smartmig
