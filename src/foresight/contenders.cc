#include "foresight/contenders.h"

#include "foresight/fleet_sample.h"
#include "policy/partitioners.h"
#include "policy/placers.h"

namespace smartmig {
namespace {

// What an instant under a policy that places jobs itself costs to simulate, over one under another.
constexpr int kEffort = 4;

// Fixed layouts that take turns from GPU to GPU of a board, as places on the chain of `count`
// (whole, halves, ... the most slices).
struct Pattern {
  const char* name;
  std::vector<int> levels;
};

const std::vector<Pattern>& patterns() {
  static const std::vector<Pattern> all = {
      {"halves", {1}},
      {"thirds", {2}},
      {"quarters", {3}},
      {"fifths", {4}},
      {"sevenths", {5}},
      {"whole and halves", {0, 1}},
      {"halves and thirds", {1, 2}},
      {"thirds and sevenths", {2, 5}},
  };
  return all;
}

std::vector<SlotSet> layouts_of(const Fleet& fleet, const Pattern& pattern) {
  std::vector<std::vector<SlotSet>> chains;
  for (const Board* board : fleet.boards()) chains.push_back(count_chain(*board));
  const auto places = FleetSample::places_by_board(fleet);
  std::vector<SlotSet> layouts;
  for (GpuIndex gpu = 0; gpu < fleet.gpu_count(); ++gpu) {
    const auto& chain = chains[fleet.board_index(gpu)];
    const int level = pattern.levels[places[gpu] % pattern.levels.size()];
    // A board with a shorter chain gets the layout at the same fraction of its own chain.
    const std::size_t at = (static_cast<std::size_t>(level) * (chain.size() - 1) + 2) / 5;
    layouts.push_back(chain[at]);
  }
  return layouts;
}

}  // namespace

std::vector<Contender> make_contenders(const Fleet& fleet, const PolicyOptions& options,
                                       const SmartmigKnobs& knobs) {
  std::vector<Contender> contenders;
  const auto add_rule = [&](std::string name, std::unique_ptr<Partitioner> rule) {
    Policy policy;
    policy.partitioner = std::move(rule);
    contenders.push_back({std::move(name), std::move(policy), kEffort});
  };
  add_rule("prices", make_prices(knobs, fleet, options.energy_weight));
  for (const char* name : {"none/shortest-remaining", "none/edf", "none/apparent-tardiness",
                           "count/shortest-remaining", "count/apparent-tardiness",
                           "count/slowest-on-time", "count/cedf", "greedy"}) {
    auto policy = make_policy(name, fleet, options);
    SM_CHECK(policy.has_value());
    const int effort = policy->placer ? 1 : kEffort;
    contenders.push_back({name, std::move(*policy), effort});
  }
  add_rule("prices, a quarter", make_prices(knobs, fleet, options.energy_weight, 0.25));
  add_rule("prices, four times", make_prices(knobs, fleet, options.energy_weight, 4));
  add_rule("queue-prices, a quarter", make_queue_prices(options.energy_weight, {0.5, true}));
  add_rule("queue-prices", make_queue_prices(options.energy_weight));
  add_rule("queue-prices, no waits", make_queue_prices(options.energy_weight, {2, false}));
  add_rule("queue-prices, four times, no waits",
           make_queue_prices(options.energy_weight, {8, false}));
  for (const Pattern& pattern : patterns()) {
    Policy fixed;
    fixed.partitioner = make_static(layouts_of(fleet, pattern));
    fixed.placer = make_apparent_tardiness();
    contenders.push_back({pattern.name, std::move(fixed)});
  }
  return contenders;
}

}  // namespace smartmig
