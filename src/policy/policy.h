// The two ports of a policy. A partitioner decides layouts, a placer decides which ready job gets
// which free slice; a joint policy is a partitioner that also starts jobs. They see a View and fill
// a Decision, and never meet the engine, the clock or a driver. An object serves one run at a time;
// clone() gives another run its own.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fleet/decision.h"
#include "fleet/view.h"

namespace smartmig {

// What a partitioner that decides now and then has done in a run.
struct TurnCounts {
  long decisions = 0;
  long decisions_with_change = 0;  // Of at least one GPU.
  long gpus_asked = 0;             // Over all decisions.
  long gpus_changed = 0;
};

class Placer;

class Partitioner {
 public:
  virtual ~Partitioner() = default;
  virtual std::unique_ptr<Partitioner> clone() const = 0;
  // Whether it reads View::aggregates().
  virtual bool wants_aggregates() const { return false; }
  // Whether what it sees of how long jobs take is corrected by what ended jobs have taught.
  virtual bool corrects_beliefs() const { return false; }
  // A run begins: the layouts the fleet starts with, one for each GPU, at time view.now(), into a
  // vector that is empty. Nothing is remembered of a run before.
  virtual void first_layouts(const View& view, std::vector<SlotSet>& layouts) = 0;
  // The fleet is as another policy left it, and jobs may have other numbers: those below
  // view.arrived() are known already. For policies that others switch to (foresight/).
  virtual void take_over(const View& /*view*/) {}
  // An instant at which another policy decides.
  virtual void watch(const View& /*view*/) {}
  // What `other`, of the same kind, has learned of the run so far.
  virtual void learn_from(const Partitioner& /*other*/) {}
  // The placer that decides now, of a policy that switches between others; nullptr: it starts jobs
  // itself.
  virtual Placer* present_placer() { return nullptr; }
  // Draws go on from the start of this seed's streams, as in an object made with it.
  virtual void reseed(std::uint64_t /*seed*/) {}
  // Adds repartitions (and, if joint, stops and starts). Called at arrivals, completions, failures
  // and its timers; one that stops jobs also when they have saved.
  virtual void decide(View& view, Decision& decision) = 0;
  // The GPU is not as it was asked to be: a change was not allowed, or failed, or somebody else
  // made one. One that asks only when its mind changes asks again.
  virtual void reconsider(GpuIndex /*gpu*/) {}
  virtual TurnCounts turn_counts() const { return {}; }
  // Whether it stops jobs itself where a waiting one should have their slices: then nothing else
  // displaces them.
  virtual bool stops_jobs() const { return false; }
  // Whether it is also called when a slice has been made or destroyed.
  virtual bool follows_operations() const { return false; }
  // Whether it reads what users asked for (Job::request_millionths): without it a run means
  // nothing.
  virtual bool needs_requests() const { return false; }
  // The next time after `now` at which it wants to be called although nothing happens; asked after
  // every decision.
  virtual TimeUs next_timer(TimeUs /*now*/) const { return kNever; }
};

class Placer {
 public:
  virtual ~Placer() = default;
  virtual std::unique_ptr<Placer> clone() const = 0;
  virtual JobOrder job_order() const { return JobOrder::kDeadline; }
  virtual GpuOrder gpu_order() const { return GpuOrder::kIndex; }
  virtual bool wants_aggregates() const { return false; }
  virtual void reseed(std::uint64_t /*seed*/) {}  // As Partitioner's.
  // Adds starts on free slices, each marked in the view as it is taken. Under Preemption::kFree
  // they are the whole new assignment; else they are additions.
  virtual void decide(View& view, std::vector<Start>& starts) = 0;
};

struct Policy {
  std::string name;  // As the user wrote it.
  std::unique_ptr<Partitioner> partitioner;
  std::unique_ptr<Placer> placer;  // None: the partitioner is joint.

  Policy() = default;
  Policy(Policy&&) = default;
  Policy& operator=(Policy&&) = default;
  Policy(const Policy& other)
      : name(other.name),
        partitioner(other.partitioner->clone()),
        placer(other.placer ? other.placer->clone() : nullptr) {}
  Policy& operator=(const Policy& other) { return *this = Policy(other); }

  // The placer that decides now, if any.
  Placer* present_placer() const { return placer ? placer.get() : partitioner->present_placer(); }
  void reseed(std::uint64_t seed) {  // Both ports.
    partitioner->reseed(seed);
    if (placer) placer->reseed(seed);
  }
};

// The steps of a decision at one instant, each into a cleared Decision and carried out before the
// next: layouts, then displacement (policy/displace.h, under `checkpoint`), then placement, which
// under `free` is a whole assignment.
void decide_layouts(Policy& policy, View& view, Decision& decision);
void decide_placement(Policy& policy, View& view, Decision& decision);
// Makes a decision of starts, which a placer has marked in the view, what decide_placement() gives.
void finish_placement(View& view, Decision& decision);

// Adds a repartition of the GPU to this layout's multiset unless it has it already, where the
// present slices in use stay as far as they can.
void aim_at(const View& view, GpuIndex gpu, SlotSet layout, Decision& decision);

}  // namespace smartmig
