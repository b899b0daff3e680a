// A fault at every driver's call in turn, each error, a lie, a hang and a late answer, once and for
// ever, during each kind of change, on an idle GPU and beside a busy slice: one that goes away
// leaves the old or the new layout and the GPU in use, one that stays a fenced GPU with a line that
// says why; the busy slice keeps its UUID and its job, the other GPU goes on, and everything works
// again once the fault is cleared.
#include <gtest/gtest.h>

#include "fault_bench.h"

namespace smartmig {
namespace {

constexpr int kUsualCases = 240;

struct Change {
  const char* name;
  const char* from;
  const char* to;
  int creates;
  int destroys;
  FaultBench::Kind bench = FaultBench::Kind::kIdle;
};
constexpr FaultBench::Kind kBusy = FaultBench::Kind::kBusy;
constexpr Change kChanges[] = {
    {"create", "4", "4-3", 1, 0},
    {"destroy", "4-3", "4", 0, 1},
    {"split", "7", "4-3", 2, 1},
    {"merge", "4-3", "7", 1, 2},
    {"replace", "3-3", "2-2-2-1", 4, 2},
    {"create beside a job", "3", "3-3", 1, 0, kBusy},
    {"destroy beside a job", "3-3", "3", 0, 1, kBusy},
    {"split beside a job", "3-3", "3-2-1", 2, 1, kBusy},
    {"merge beside a job", "3-2-1", "3-3", 1, 2, kBusy},
    {"replace beside a job", "3-2-1", "3-1-1-1", 2, 1, kBusy},
};

// `blind_from`: that look and the next ones fail as well, more than a step waits for; 0: none.
std::string run_change(FaultBench& bench, const Change& change, const Aim& aim,
                       const Strike& strike, int blind_from = 0) {
  // The last fault may have struck a look that came after its change: the fence passes.
  if (!wait_until([&] { return bench.apply(0, change.from); })) return "it cannot be set up";
  if (const auto what = bench.comes_back(change.from, change.from); !what.empty())
    return "before the fault: " + what;
  bench.inject(aim, strike);
  if (blind_from > 0) bench.blind(blind_from, 4);
  if (!bench.apply(0, change.to)) return "the change is refused";
  if (strike.hangs() || (aim.for_ever && strike.fences())) {
    if (const auto what = bench.is_fenced_alone(strike); !what.empty()) return what;
  } else {
    if (const auto what = bench.comes_back(change.from, change.to); !what.empty()) return what;
    if (!aim.for_ever && blind_from == 0 && !bench.all_struck()) return "the fault met no call";
  }
  bench.clear();
  if (const auto what = bench.comes_back(change.from, change.to); !what.empty())
    return "after the fault: " + what;
  return {};
}

std::vector<FaultCase> change_cases() {
  std::vector<FaultCase> cases;
  const auto strikes = every_strike();
  for (const Change& change : kChanges) {
    // A step looks before it and after it.
    const std::pair<const char*, int> calls[] = {{"create", change.creates},
                                                 {"destroy", change.destroys},
                                                 {"read", 2 * (change.creates + change.destroys)}};
    for (const auto& [call, count] : calls) {
      for (const Strike& strike : strikes) {
        if (strike.is_about_effects() && std::string_view(call) == "read") continue;
        for (int nth = 1; nth <= count; ++nth) {
          for (const bool for_ever : {false, true}) {
            // Each call would be given up and come back, for ever.
            if (for_ever && strike.kind == Strike::Kind::kLate) continue;
            const Aim aim{call, nth, for_ever};
            cases.push_back({fmt::format("{}: {} {} {}{}", change.name, strike.name, call, nth,
                                         for_ever ? " and on" : ""),
                             change.bench, [&change, aim, strike](FaultBench& bench) {
                               return run_change(bench, change, aim, strike);
                             }});
          }
        }
      }
    }
  }
  return cases;
}

// Nor can one see for a while what a call that went wrong has done.
std::vector<FaultCase> blind_cases() {
  std::vector<FaultCase> cases;
  for (const Change& change : kChanges) {
    for (const auto& [call, count] :
         {std::pair{"create", change.creates}, {"destroy", change.destroys}}) {
      for (const Strike& strike : every_strike()) {
        if (strike.says != "unknown" && strike.says != "no-permission" && !strike.hangs()) continue;
        for (int nth = 1; nth <= count; ++nth) {
          for (int look = 1; look <= 2 * (change.creates + change.destroys); ++look) {
            const Aim aim{call, nth, false};
            cases.push_back({fmt::format("{}: {} {} {}, blind from look {}", change.name,
                                         strike.name, call, nth, look),
                             change.bench, [&change, aim, strike, look](FaultBench& bench) {
                               return run_change(bench, change, aim, strike, look);
                             }});
          }
        }
      }
    }
  }
  return cases;
}

TEST(LiveFaults, LeaveTheOldLayoutOrTheNewOrAFencedGpu) {
  run_fault_cases(change_cases(), kUsualCases);
}

TEST(LiveFaults, ThatCannotBeSeenLeaveTheOldLayoutOrTheNewOrAFencedGpu) {
  run_fault_cases(blind_cases(), kUsualCases / 2);
}

}  // namespace
}  // namespace smartmig
