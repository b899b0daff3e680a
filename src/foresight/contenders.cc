#include "foresight/contenders.h"

#include <fmt/format.h>

#include "foresight/fleet_sample.h"
#include "policy/partitioners.h"
#include "policy/placers.h"

namespace smartmig {
namespace {

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
    // The same part of a chain that is shorter.
    const std::size_t at = (static_cast<std::size_t>(level) * (chain.size() - 1) + 2) / 5;
    layouts.push_back(chain[at]);
  }
  return layouts;
}

}  // namespace

Result<std::vector<Contender>> make_contenders(const Fleet& fleet, const PolicyOptions& options,
                                               const std::string& knobs_file) {
  std::vector<Contender> contenders;
  const auto knobs = read_knobs(knobs_file);
  if (!knobs) return pass_on(knobs);
  Policy rule;
  rule.partitioner = make_prices(*knobs, fleet, options.energy_weight);
  contenders.push_back({"prices", std::move(rule)});
  for (const char* name : {"none/shortest-remaining", "none/edf", "none/apparent-tardiness",
                           "count/shortest-remaining", "count/apparent-tardiness",
                           "count/slowest-on-time", "count/cedf", "greedy"}) {
    auto policy = make_policy(name, fleet, options);
    if (!policy) return pass_on(policy);
    contenders.push_back({name, std::move(*policy)});
  }
  for (const Pattern& pattern : patterns()) {
    Policy fixed;
    fixed.partitioner = make_static(layouts_of(fleet, pattern));
    fixed.placer = make_apparent_tardiness();
    contenders.push_back({pattern.name, std::move(fixed)});
  }
  return contenders;
}

}  // namespace smartmig
