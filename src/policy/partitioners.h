// Makers of the partitioners; each is in a file of its own. docs/model/semantics.md has their
// rules.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "policy/knobs.h"
#include "policy/policy.h"

namespace smartmig {

std::unique_ptr<Partitioner> make_none();
std::unique_ptr<Partitioner> make_static(std::vector<SlotSet> layouts);

struct DayNight {
  std::array<std::vector<SlotSet>, 2> layouts;  // One for each GPU.
  std::array<TimeUs, 2> from_us{};              // Times of day, ascending.
};
std::unique_ptr<Partitioner> make_day_night(DayNight plan);

std::unique_ptr<Partitioner> make_count();
std::unique_ptr<Partitioner> make_greedy();
// `price`: of slices, times what the knobs say.
std::unique_ptr<Partitioner> make_prices(const SmartmigKnobs& knobs, const Fleet& fleet,
                                         double energy_weight, double price = 1);
struct QueuePriceStyle {
  double price = 2;   // Multiplies the price that the queue gives.
  bool waits = true;  // For a slice that others are on, for a limited time.
};
std::unique_ptr<Partitioner> make_queue_prices(double energy_weight,
                                               const QueuePriceStyle& style = {});

// The largest profile of each GPU's board: what `none`, `count` and `greedy` start with.
void whole_gpus(const Fleet& fleet, std::vector<SlotSet>& layouts);

// The layouts along which `count` steps, from one slice to the most.
std::vector<SlotSet> count_chain(const Board& board);

}  // namespace smartmig
