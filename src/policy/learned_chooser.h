// A learned policy at work: observation in, choices out, with room that is kept from one decision
// to the next. Copies are independent and share the network.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/random.h"
#include "policy/policy_file.h"

namespace smartmig {

class LearnedChooser {
 public:
  LearnedChooser(std::shared_ptr<const LearnedPolicy> policy, std::uint64_t seed);
  void reseed(std::uint64_t seed) { random_ = Random(seed, "learned policy"); }

  const LearnedSettings& settings() const { return policy_->settings; }
  // To be filled before think(): the observation, and for each head and option whether it is
  // allowed.
  std::span<float> inputs() { return inputs_; }
  std::span<std::uint8_t> allowed() { return allowed_; }
  void think();
  // After it: how many of a head's members take each option. O(options) for any number of members.
  std::span<const std::uint32_t> choose(int head, std::uint32_t members);
  // The option of the only member of the only head.
  int choose_one();
  // All heads' counts as choose() left them.
  std::span<const std::uint32_t> counts() const { return counts_; }

 private:
  std::span<std::uint32_t> counts_of(int head) {
    return std::span(counts_).subspan(static_cast<std::size_t>(head) * options_, options_);
  }

  std::shared_ptr<const LearnedPolicy> policy_;
  std::size_t options_ = 0;
  Random random_;
  Workspace workspace_;
  std::vector<float> inputs_;
  std::vector<float> normalised_;
  std::vector<float> logits_;
  std::vector<float> probabilities_;
  std::vector<float> log_probabilities_;
  std::vector<std::uint8_t> allowed_;
  std::vector<std::uint32_t> counts_;
};

}  // namespace smartmig
