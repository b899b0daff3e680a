// All jobs that wait, in the order of their queues. On long queues what is known of a job is seldom
// in a cache: memory is asked for some jobs before it is looked at.
#pragma once

#include <vector>

#include "fleet/view.h"

namespace smartmig {

// Calls body(job, kinds) for each; `order` is room to work in, kept by the caller.
template <class Body>
void for_each_ready(const View& view, std::vector<JobIndex>& order, Body body) {
  constexpr std::size_t kAhead = 8;
  for (const State::Group& group : view.groups()) {
    order.clear();
    for (auto cursor = group.queue.begin(); !group.queue.at_end(cursor);
         group.queue.advance(cursor))
      order.push_back(group.queue.at(cursor).job);
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (i + kAhead < order.size()) view.prefetch(order[i + kAhead]);
      body(order[i], group.kinds);
    }
  }
}

}  // namespace smartmig
