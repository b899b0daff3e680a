// Makers of the placers; each is in a file of its own. docs/model/semantics.md has their rules,
// word for word.
#pragma once

#include <cstdint>
#include <memory>

#include "policy/policy.h"

namespace smartmig {

std::unique_ptr<Placer> make_edf();
std::unique_ptr<Placer> make_cedf();
std::unique_ptr<Placer> make_shortest_remaining();
std::unique_ptr<Placer> make_met(double energy_weight);
std::unique_ptr<Placer> make_random(std::uint64_t seed);
std::unique_ptr<Placer> make_slowest_on_time();
std::unique_ptr<Placer> make_apparent_tardiness();
std::unique_ptr<Placer> make_earliest_finish();
std::unique_ptr<Placer> make_largest_first();
std::unique_ptr<Placer> make_smallest_first();
std::unique_ptr<Placer> make_first_fit();

}  // namespace smartmig
