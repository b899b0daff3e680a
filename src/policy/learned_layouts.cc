// `mean-field` and `one-gpu`: a network turns distributions into next layouts. A decision costs the
// same for any fleet, but for the GPUs that change.
#include <algorithm>

#include "policy/layout_control.h"
#include "policy/learned.h"
#include "policy/learned_chooser.h"
#include "policy/partitioners.h"

namespace smartmig {
namespace {

class LearnedLayouts : public Partitioner {
 public:
  LearnedLayouts(std::shared_ptr<const LearnedPolicy> policy, std::uint64_t seed)
      : chooser_(std::move(policy), seed), turns_(chooser_.settings().every) {}
  std::unique_ptr<Partitioner> clone() const override {
    return std::make_unique<LearnedLayouts>(*this);
  }
  bool wants_aggregates() const override { return true; }
  void reseed(std::uint64_t seed) override { chooser_.reseed(seed); }
  TurnCounts turn_counts() const override { return counts_; }

  void first_layouts(const View& view, std::vector<SlotSet>& layouts) override {
    turns_.begin();
    counts_ = {};
    whole_gpus(view.fleet(), layouts);
  }

  void decide(View& view, Decision& decision) override {
    if (!turns_.is_due(view)) return;
    turns_.note(view);
    observe_layouts(view, chooser_.settings().queue_length, chooser_.inputs());
    std::fill(chooser_.allowed().begin(), chooser_.allowed().end(), 1);
    chooser_.think();
    const std::size_t before = decision.repartitions.size();
    if (chooser_.settings().kind == LearnedKind::kOneGpu) {
      move_one_gpu(view, chooser_.choose_one(), decision);
    } else {
      const Aggregates& sums = view.aggregates();
      for (int n = 0; n < sums.layouts(0).choices(); ++n) chooser_.choose(n, sums.gpus_in(0, n));
      move_gpus(view, chooser_.counts(), decision);
    }
    const std::size_t changed = decision.repartitions.size() - before;
    ++counts_.decisions;
    counts_.decisions_with_change += changed > 0;
    counts_.gpus_asked += view.gpus_up();
    counts_.gpus_changed += static_cast<long>(changed);
  }

 private:
  LearnedChooser chooser_;
  EveryFewEvents turns_;
  TurnCounts counts_;
};

}  // namespace

std::unique_ptr<Partitioner> make_learned_layouts(std::shared_ptr<const LearnedPolicy> policy,
                                                  std::uint64_t seed) {
  return std::make_unique<LearnedLayouts>(std::move(policy), seed);
}

Result<std::unique_ptr<Partitioner>> read_learned_layouts(LearnedKind kind, const std::string& path,
                                                          const Fleet& fleet, std::uint64_t seed) {
  if (fleet.boards().size() > 1)
    return fail("policy {}: found {} boards in the fleet, expected one", to_string(kind),
                fleet.boards().size());
  if (kind == LearnedKind::kOneGpu && fleet.gpu_count() > 1)
    return fail("policy one-gpu: found {} GPUs in the fleet, expected one", fleet.gpu_count());
  auto policy = read_policy_file(path, to_string(kind), fleet);
  if (!policy) return pass_on(policy);
  if ((*policy)->settings.kind != kind) {
    return fail("policy {}: {} holds a {} policy", to_string(kind),
                path.empty() ? "what is shipped" : path, to_string((*policy)->settings.kind));
  }
  return make_learned_layouts(std::move(*policy), seed);
}

}  // namespace smartmig
