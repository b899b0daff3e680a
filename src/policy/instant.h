// The sequence of one instant, the same for the simulated engine and for the live model
// (docs/model/semantics.md, "One instant"): the partitioner if it is due, what its decision lets
// happen, displacement, what that lets happen, then the placer.
//
// A Host carries decisions out:
//
//   void ask_partitioner();             // Decides layouts and carries the decision out.
//   void carry_out(Decision& decision);
//   void settle();                      // Operations start, and jobs whose slice is there now.
#pragma once

#include "policy/displace.h"
#include "policy/policy.h"

namespace smartmig {

// Room to work in, kept from instant to instant so that deciding allocates nothing.
struct InstantRoom {
  Decision decision;
  ViewScratch scratch;
  DisplacementRoom displacement;
};

template <class Host>
class Instant {
 public:
  Instant(Host& host, Policy& policy, State& state, InstantRoom& room)
      : host_(host), policy_(policy), state_(state), room_(room) {}

  void decide(bool partitioner_due) {
    if (partitioner_due) host_.ask_partitioner();
    settle_layouts();
    place();
  }

  // The part between the partitioner's decision and the placer's.
  void settle_layouts() {
    host_.settle();
    if (state_.preemption() == Preemption::kCheckpoint && state_.ready_count() > 0 &&
        !policy_.partitioner->stops_jobs()) {
      room_.decision.clear();
      displace(View(state_, room_.scratch), room_.displacement, room_.decision);
      host_.carry_out(room_.decision);
      host_.settle();
    }
    if (const Placer* placer = policy_.present_placer()) {
      state_.set_orders(placer->job_order(), placer->gpu_order());
      state_.refresh_keys();
    }
  }

  void place() {
    if (!policy_.present_placer()) return;
    View view(state_, room_.scratch);
    decide_placement(policy_, view, room_.decision);
    host_.carry_out(room_.decision);
  }

 private:
  Host& host_;
  Policy& policy_;
  State& state_;
  InstantRoom& room_;
};

}  // namespace smartmig
