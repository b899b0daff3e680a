// What tests of faults share: two GPUs under a controller, the first of which meets the faults
// while the second only works; the faults themselves; and a way to run many cases on several such
// fleets at once.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "live_fixture.h"

namespace smartmig {

// One way for a call to go wrong.
struct Strike {
  enum class Kind {
    kError,     // It answers `code` and does nothing.
    kLie,       // It answers `code` and is done all the same.
    kHang,      // It never answers ...
    kHangDone,  // ... and is done all the same.
    kLate,      // It answers when it has been given up, ...
    kSlow,      // ... or just before.
  };
  Kind kind = Kind::kError;
  std::string name;    // "timeout", "timeout, a lie"
  std::string fields;  // Of `inject`, without the call and when.
  std::string says;    // A part of what the operator reads while it lasts.

  bool hangs() const { return kind == Kind::kHang || kind == Kind::kHangDone; }
  // Whether a GPU on which every such call goes wrong this way is fenced.
  bool fences() const { return kind == Kind::kError || hangs(); }
  // Whether it differs from another one for a call without effects.
  bool is_about_effects() const { return kind == Kind::kLie || kind == Kind::kHangDone; }
};
// Every code of the driver's port, each as an error and as a lie, and the others.
std::vector<Strike> every_strike();

// How often, and from which call on.
struct Aim {
  std::string call;  // "create"
  int nth = 1;
  bool for_ever = false;
};

class FaultBench {
 public:
  enum class Kind {
    kIdle,  // The first GPU has one slice of 7, the second two of 3.
    kBusy,  // The first GPU has two slices of 3, a job on one of them; the second one slice of 7.
  };
  FaultBench(const std::string& name, Kind kind);
  // What is wrong with the fleet, its runs and the journal at the end; empty: nothing. The
  // controller is gone then.
  std::string close();

  // Layouts are the operator's here: the policy is thawed only while jobs are to start.
  void freeze(bool on);
  void tell(Command::Kind kind, int gpu);
  bool apply(int gpu, const std::string& layout);
  void inject(const Aim& aim, const Strike& strike);
  void blind(int nth, int looks);  // From the n-th look at the first GPU on so many fail.
  bool all_struck();               // No fault waits for its call.
  void clear();                    // Takes the faults away; a fleet with calls that hang restarts.
  void restart_controller();

  GpuView gpu(int index) { return *controller_->gpu(std::to_string(index)); }
  // What the hardware has, which is what counts.
  std::string real_layout(int index);
  std::optional<SliceView> busy();  // Of the first GPU.
  JobNumber submit(double work_s, double deadline_s, const std::string& profile = "bert-training");
  JobRow row(JobNumber job);
  bool comes_to(JobNumber job, JobPhase phase, int attempt = 0);  // 0: any.
  Controller& controller() { return *controller_; }
  LiveRig& rig() { return rig_; }

  // What is wrong; empty: nothing.
  // The first GPU gets back into use with one of the two layouts.
  std::string comes_back(const std::string& one, const std::string& other);
  // It is fenced and says why in one line.
  std::string is_fenced(const Strike& strike);
  // And stays so while it is tried again, and the other GPU works.
  std::string is_fenced_alone(const Strike& strike);
  void stop_controller() { controller_.reset(); }
  Result<void> start_controller();

 private:
  void occupy();

  LiveRig rig_;
  ControllerOptions options_;
  std::unique_ptr<Controller> controller_;
  std::optional<SliceView> occupied_;
  bool hangs_ = false;  // A fault that hangs was injected.
};

struct FaultCase {
  std::string name;
  FaultBench::Kind bench = FaultBench::Kind::kIdle;
  std::function<std::string(FaultBench&)> run;  // What went wrong; empty: nothing.
};
// Runs SMARTMIG_CASES of them, or `usual`, chosen by the seed, on several fleets at once; each
// fleet takes one case after the other.
void run_fault_cases(std::vector<FaultCase> cases, int usual);

}  // namespace smartmig
