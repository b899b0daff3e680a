// place_in_order() turned inside out: stops at each choice, so that whoever chooses need not be a
// Placer. Between begin() and the carrying out of starts() nothing but this may change the state.
//
//   for (steps.begin(view); steps.next(view);) steps.choose(view, slice);   // or not
//   engine.place(steps.starts());
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "policy/place.h"

namespace smartmig {

class StepwisePlacement {
 public:
  void begin(View& view) {
    starts_.clear();
    order_.emplace(view);
  }
  // Goes to the next job, in the placer's order, that has a free slice to run on; false at the end.
  bool next(View& view) {
    const KindSet free = view.free().kinds();
    job_ = free == 0 ? kNone : order_->next(free, kinds_);
    kinds_ &= free;
    return job_ != kNone;
  }
  JobIndex job() const { return job_; }
  KindSet kinds() const { return kinds_; }  // With a free slice, and on which it runs.
  // The ready job behind it, whether it has a slice or not; kNone at the end.
  JobIndex job_after() const { return order_->peek(); }
  void choose(View& view, SliceId slice) {
    view.mark_taken(slice);
    starts_.push_back({job_, slice, view.slice(slice).slot});
  }
  std::span<const Start> starts() const { return starts_; }

 private:
  std::optional<ReadyOrder> order_;
  std::vector<Start> starts_;
  JobIndex job_ = kNone;
  KindSet kinds_ = 0;
};

}  // namespace smartmig
