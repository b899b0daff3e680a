// From one choice of a slice to the next, for tasks that choose slices one by one.
#pragma once

#include "policy/stepwise_placement.h"
#include "sim/engine.h"

namespace smartmig {

// To the next choice, over as many instants as have none; false at the end of the run.
inline bool walk_to_choice(Engine& engine, StepwisePlacement& choices) {
  View view = engine.view();
  while (!choices.next(view)) {
    engine.place(choices.starts());
    if (!engine.advance()) return false;
    engine.partition();
    choices.begin(view);
  }
  return true;
}

// To the first choice of a run that begins: its first job finds the fleet empty.
inline void walk_to_first_choice(Engine& engine, StepwisePlacement& choices) {
  SM_CHECK(engine.advance());
  engine.partition();
  View view = engine.view();
  choices.begin(view);
  SM_CHECK(walk_to_choice(engine, choices));
}

}  // namespace smartmig
