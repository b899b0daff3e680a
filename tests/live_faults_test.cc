// A fault at every driver's call in turn, once and for ever, during each kind of change: one that
// goes away leaves the old or the new layout and the GPU in use, one that stays a fenced GPU with a
// line that says why; a busy slice beside the change keeps its UUID and its job, the other GPU goes
// on, and everything works again once the fault is cleared.
#include <gtest/gtest.h>

#include <thread>

#include "live_fixture.h"

namespace smartmig {
namespace {

struct Change {
  const char* name;
  const char* from;
  const char* to;
};
constexpr Change kChanges[] = {
    {"create", "4", "4-3"}, {"destroy", "4-3", "4"},       {"split", "7", "4-3"},
    {"merge", "4-3", "7"},  {"replace", "3-3", "2-2-2-1"},
};

struct Strike {
  const char* name;
  const char* fields;  // Of `inject`, without the call and times.
  bool passes;         // It may be waited out within the step.
};
constexpr Strike kStrikes[] = {
    {"in-use", "\"code\":\"in-use\"", true},
    {"insufficient-resources", "\"code\":\"insufficient-resources\"", true},
    {"no-permission", "\"code\":\"no-permission\"", false},
    {"not-found", "\"code\":\"not-found\"", false},
    {"not-supported", "\"code\":\"not-supported\"", false},
    {"gpu-lost", "\"code\":\"gpu-lost\"", false},
    {"timeout", "\"code\":\"timeout\"", true},
    {"unknown", "\"code\":\"unknown\"", true},
    {"lie", "\"code\":\"unknown\",\"done\":true", true},
    {"late", "\"delay_s\":0.6", true},
};

// One fleet of two GPUs: the first is changed, the second only works.
class Bench {
 public:
  // The policy's layouts are `first` and `second`.
  explicit Bench(const std::string& name, const std::string& first = "7",
                 const std::string& second = "3-3")
      : rig_(name) {
    rig_.start_fleet("2xA100-40GB", 500);
    ControllerOptions options = rig_.options(fmt::format("static:{},{}/cedf", first, second));
    options.retry_first_s = 20;  // 40 ms here.
    options.retry_most_s = 200;
    options.call_timeout_s = 0.4;
    options.workers = 4;
    auto started = rig_.start_controller(options);
    EXPECT_TRUE(started.has_value()) << started.error().message;
    controller_ = std::move(*started);
    EXPECT_TRUE(wait_until([&] { return layout(0) == first && layout(1) == second; }));
    freeze(true);
  }
  void freeze(bool on) {
    Command command;
    command.kind = on ? Command::Kind::kFreeze : Command::Kind::kUnfreeze;
    EXPECT_TRUE(controller_->command(command, "test").has_value());
  }
  // Layouts are the operator's here: the policy is thawed only to let what was applied go on.
  bool apply(int gpu, const std::string& layout) {
    Command command;
    command.kind = Command::Kind::kApply;
    command.layouts = {{std::to_string(gpu), layout}};
    return controller_->command(command, "test").has_value();
  }
  GpuView gpu(int index) { return *controller_->gpu(std::to_string(index)); }
  std::string layout(int index) { return gpu(index).layout; }
  // What the hardware has, which is what counts.
  std::string real_layout(int index) {
    const auto reading = rig_.watcher().read(static_cast<GpuIndex>(index));
    if (!reading) return "?";
    SlotSet slots = 0;
    for (const SliceReading& slice : reading->slices) slots |= SlotSet{1} << slice.slot;
    return layout_name(**BoardTable::shipped().find("A100-40GB"), slots);
  }
  bool settles_at(int index, const std::string& wanted) {
    return wait_until([&] {
      const GpuView view = gpu(index);
      return view.state == "up" && view.layout == wanted && real_layout(index) == wanted;
    });
  }
  void inject(const std::string& call, int nth, int times, const std::string& fields) {
    rig_.tell_fleet(
        fmt::format("\"op\":\"inject\",\"gpu\":0,\"call\":\"{}\",\"nth\":{},\"times\":{},{}", call,
                    nth, times, fields));
  }
  void clear() { rig_.tell_fleet("\"op\":\"clear\""); }
  Controller& controller() { return *controller_; }
  LiveRig& rig() { return rig_; }
  void stop() { controller_.reset(); }

 private:
  LiveRig rig_;
  std::unique_ptr<Controller> controller_;
};

class LiveFaults : public testing::TestWithParam<const char*> {};

TEST_P(LiveFaults, ThatGoAwayLeaveTheOldOrTheNewLayout) {
  const std::string call = GetParam();
  Bench bench("faults-once-" + call);
  for (const Change& change : kChanges) {
    for (const Strike& strike : kStrikes) {
      for (int nth = 1; nth <= 2; ++nth) {
        SCOPED_TRACE(fmt::format("{}, {} of {} {}", change.name, strike.name, call, nth));
        // The last fault may have struck a look that came after its change: the fence passes.
        ASSERT_TRUE(wait_until([&] { return bench.apply(0, change.from); }));
        ASSERT_TRUE(bench.settles_at(0, change.from)) << bench.gpu(0).trouble;
        bench.inject(call, nth, 1, strike.fields);
        ASSERT_TRUE(bench.apply(0, change.to));
        EXPECT_TRUE(wait_until([&] {
          const GpuView view = bench.gpu(0);
          return view.state == "up" && view.layout == view.target &&
                 view.layout == bench.real_layout(0) &&
                 (view.layout == change.to || view.layout == change.from);
        })) << bench.gpu(0).state
            << " " << bench.gpu(0).layout << " " << bench.gpu(0).trouble;
        bench.clear();
        if (HasFailure()) return;
      }
    }
  }
  bench.stop();
  EXPECT_EQ(wrong_journal(bench.rig().state_dir()), "");
}

TEST_P(LiveFaults, ThatStayFenceTheGpuAndNothingElse) {
  const std::string call = GetParam();
  Bench bench("faults-stay-" + call);
  for (const Change& change : kChanges) {
    // A change without such a call does not meet the fault.
    if (call == "create" && std::string(change.name) == "destroy") continue;
    if (call == "destroy" && std::string(change.name) == "create") continue;
    SCOPED_TRACE(change.name);
    ASSERT_TRUE(bench.apply(0, change.from));
    ASSERT_TRUE(bench.settles_at(0, change.from)) << bench.gpu(0).trouble;
    bench.inject(call, 1, 0, "\"code\":\"no-permission\"");
    ASSERT_TRUE(bench.apply(0, change.to));
    ASSERT_TRUE(wait_until([&] { return bench.gpu(0).state == "fenced"; }));
    EXPECT_NE(bench.gpu(0).trouble.find("no-permission"), std::string::npos)
        << bench.gpu(0).trouble;
    EXPECT_EQ(bench.gpu(0).trouble.find('\n'), std::string::npos);
    // Tries go on and do not open it.
    ASSERT_TRUE(wait_until([&] { return bench.gpu(0).retry_us >= 0; }));
    const TimeUs first = bench.gpu(0).retry_us;
    EXPECT_TRUE(wait_until([&] {
      const GpuView view = bench.gpu(0);
      EXPECT_EQ(view.state, "fenced");
      return view.retry_us > first || HasFailure();
    }));
    // The other GPU works.
    bench.freeze(false);
    const auto before = bench.controller().counters().done;
    ASSERT_TRUE(bench.controller().submit(job_of(5, 60), "test").has_value());
    EXPECT_TRUE(wait_until([&] { return bench.controller().counters().done == before + 1; }));
    bench.freeze(true);
    EXPECT_EQ(bench.gpu(0).state, "fenced");
    bench.clear();
    EXPECT_TRUE(wait_until([&] {
      const GpuView view = bench.gpu(0);
      return view.state == "up" && view.layout == bench.real_layout(0) &&
             (view.layout == change.to || view.layout == change.from);
    })) << bench.gpu(0).trouble;
    if (HasFailure()) return;
  }
  bench.stop();
  EXPECT_EQ(wrong_journal(bench.rig().state_dir()), "");
}

INSTANTIATE_TEST_SUITE_P(Calls, LiveFaults, testing::Values("create", "destroy", "read"));

TEST(LiveFault, ThatHangsFencesUntilTheCallComesBack) {
  Bench bench("faults-hang");
  bench.inject("create", 1, 1, "\"hang\":true");
  ASSERT_TRUE(bench.apply(0, "4-3"));
  ASSERT_TRUE(wait_until([&] { return bench.gpu(0).state == "fenced"; }));
  EXPECT_NE(bench.gpu(0).trouble.find("has not answered"), std::string::npos);
  // Its process anew: the call ends with the connection.
  bench.rig().restart_fleet();
  EXPECT_TRUE(wait_until([&] {
    const GpuView view = bench.gpu(0);
    return view.state == "up" && (view.layout == "4-3" || view.layout == "7") &&
           view.layout == bench.real_layout(0);
  })) << bench.gpu(0).state
      << " " << bench.gpu(0).layout << " " << bench.gpu(0).trouble;
  bench.stop();
  EXPECT_EQ(wrong_journal(bench.rig().state_dir()), "");
}

TEST(LiveFault, BesideABusySliceLeavesItAlone) {
  for (const char* call : {"create", "destroy"}) {
    SCOPED_TRACE(call);
    Bench bench(fmt::format("faults-busy-{}", call), "3-3", "7");
    // The job takes a slice of the first GPU, the other one being closed.
    Command cordon;
    cordon.kind = Command::Kind::kCordon;
    cordon.gpu = "1";
    ASSERT_TRUE(bench.controller().command(cordon, "test").has_value());
    bench.freeze(false);
    ASSERT_TRUE(bench.controller().submit(job_of(20000, 90000), "test").has_value());
    const auto busy = [&]() -> std::optional<SliceView> {
      for (const SliceView& slice : bench.gpu(0).slices) {
        if (slice.job != 0) return slice;
      }
      return std::nullopt;
    };
    ASSERT_TRUE(wait_until([&] { return busy().has_value(); }));
    bench.freeze(true);
    const SliceView before = *busy();
    bench.inject(call, 1, 0, "\"code\":\"no-permission\"");
    // What has room in the other half depends on which half that is.
    ASSERT_TRUE(bench.apply(0, before.start == 0 ? "3-2-1" : "3-2-2"));
    ASSERT_TRUE(wait_until([&] { return bench.gpu(0).state == "fenced"; }));
    ASSERT_TRUE(busy().has_value());
    EXPECT_EQ(busy()->uuid, before.uuid);
    EXPECT_EQ(busy()->job, before.job);
    bench.clear();
    EXPECT_TRUE(wait_until([&] { return bench.gpu(0).state == "up"; }));
    ASSERT_TRUE(busy().has_value());
    EXPECT_EQ(busy()->uuid, before.uuid);
  }
}

// A start or a stop that fails, lies or cannot be seen: the job runs once, and ends.
TEST(LiveFault, OfAStartOrAStopRunsNoJobTwice) {
  const std::string lies[] = {"\"code\":\"unknown\",\"done\":true", "\"code\":\"no-permission\"",
                              "\"code\":\"not-found\",\"done\":true", "\"code\":\"not-found\"",
                              "\"delay_s\":0.6"};
  for (const char* call : {"start", "kill"}) {
    Bench bench(fmt::format("faults-{}", call));
    bench.freeze(false);
    for (const std::string& fields : lies) {
      SCOPED_TRACE(fmt::format("{} {}", call, fields));
      bench.inject(call, 1, 1, fields);
      bench.inject("read", 1, 4, "\"code\":\"unknown\"");  // Nor can one look for a while.
      const auto job = bench.controller().submit(job_of(400, 900), "test");
      ASSERT_TRUE(job.has_value());
      ASSERT_TRUE(wait_until([&] { return bench.controller().summary().running == 1; }));
      if (std::string(call) == "kill") {
        ASSERT_TRUE(bench.controller().cancel(job->id, "test", "").has_value());
      }
      EXPECT_TRUE(wait_until([&] {
        const FleetView seen = bench.controller().summary();
        return seen.queued + seen.running == 0;
      })) << bench.gpu(0).trouble;
      bench.clear();
      EXPECT_TRUE(wait_until([&] { return bench.gpu(0).state == "up"; })) << bench.gpu(0).trouble;
      EXPECT_EQ(wrong_runs(bench.rig()), "");
      if (testing::Test::HasFailure()) return;
    }
    bench.stop();
    EXPECT_EQ(wrong_journal(bench.rig().state_dir()), "");
  }
}

}  // namespace
}  // namespace smartmig
