// Many environments of one kind, stepped together: the only thing a trainer sees of the simulator.
// Arrays are row-major, one row for each environment, and stay valid until the next step(). Each
// environment draws from streams of its own, so results do not depend on how many threads step
// them. Nothing is allocated once every environment has been through an episode.
//
// An action has one or several heads; the members of a head (the GPUs that are in one layout; a
// placement has one head with one member) each choose one option of it, so an action is a count for
// every head and option, and its log probability is the sum of count * log p(option | head).
#pragma once

#include <cstdint>
#include <span>

#include "base/worker_pool.h"

namespace smartmig {

struct ActionShape {
  int heads = 1;
  int options = 1;
  int size() const { return heads * options; }
};

class VectorEnvironment {
 public:
  virtual ~VectorEnvironment() = default;

  virtual std::size_t count() const = 0;
  virtual int observation_size() const = 0;
  virtual ActionShape actions() const = 0;

  virtual std::span<const float> observations() const = 0;  // count x observation_size
  virtual std::span<const std::uint8_t> masks() const = 0;  // count x heads x options, 1: allowed
  virtual std::span<const std::uint16_t> members() const = 0;  // count x heads
  // What a rule would choose there, count x heads x options; empty where there is none.
  virtual std::span<const std::uint16_t> advice() const { return {}; }
  // `chosen`, count x heads x options: how many of the head's members take the option. Where an
  // episode ends the environment goes on with its next one.
  virtual void step(std::span<const std::uint16_t> chosen, WorkerPool& pool) = 0;
  // Of the last step.
  virtual std::span<const float> rewards() const = 0;
  virtual std::span<const std::uint8_t> ended() const = 0;  // 1: its episode ended with it.
  // Mean ET over the episodes that ended since the last call, and their number.
  struct Finished {
    double mean_et = 0;
    double mean_return = 0;
    std::size_t episodes = 0;
  };
  virtual Finished take_finished() = 0;
  // Puts every environment at the start of the first of the episodes that (seed, block,
  // environment) name, whatever came before: a trainer that begins its blocks so can go on from any
  // of them.
  virtual void restart(std::uint64_t block) = 0;
};

}  // namespace smartmig
