// `learned`: a network chooses the slice, or the size of slice, for each ready job by deadline.
#include "policy/learned.h"
#include "policy/learned_chooser.h"
#include "policy/placement_inputs.h"

namespace smartmig {
namespace {

class LearnedPlacer : public Placer {
 public:
  LearnedPlacer(std::shared_ptr<const LearnedPolicy> policy, std::uint64_t seed)
      : chooser_(std::move(policy), seed) {}
  std::unique_ptr<Placer> clone() const override { return std::make_unique<LearnedPlacer>(*this); }
  bool wants_aggregates() const override { return by_size(); }
  void reseed(std::uint64_t seed) override { chooser_.reseed(seed); }

  void decide(View& view, std::vector<Start>& starts) override {
    if (!by_size() && inputs_.slice_count() == 0) inputs_.begin(view);
    for (steps_.begin(view); steps_.next(view);) {
      steps_.choose(view, by_size() ? choose_size(view) : choose_slice(view));
    }
    starts.assign(steps_.starts().begin(), steps_.starts().end());
  }

 private:
  bool by_size() const { return chooser_.settings().kind == LearnedKind::kSize; }

  SliceId choose_size(View& view) {
    observe_sizes(view, steps_, chooser_.inputs(), chooser_.allowed());
    chooser_.think();
    return slice_of_size(view, steps_.kinds(), chooser_.choose_one());
  }
  SliceId choose_slice(View& view) {
    inputs_.observe(view, steps_, chooser_.inputs(), chooser_.allowed());
    chooser_.think();
    return inputs_.slice(chooser_.choose_one());
  }

  LearnedChooser chooser_;
  PlacementInputs inputs_;
  StepwisePlacement steps_;
};

}  // namespace

std::unique_ptr<Placer> make_learned_placer(std::shared_ptr<const LearnedPolicy> policy,
                                            std::uint64_t seed) {
  return std::make_unique<LearnedPlacer>(std::move(policy), seed);
}

Result<std::unique_ptr<Placer>> read_learned_placer(const std::string& path, const Fleet& fleet,
                                                    std::span<const SlotSet> fixed_layouts,
                                                    std::uint64_t seed) {
  auto policy = read_policy_file(path, "placement", fleet);
  if (!policy) return pass_on(policy);
  const LearnedSettings& settings = (*policy)->settings;
  const std::string from = path.empty() ? "what is shipped" : path;
  if (settings.kind != LearnedKind::kPlacement && settings.kind != LearnedKind::kSize)
    return fail("policy learned: {} holds a {} policy", from, to_string(settings.kind));
  if (settings.kind == LearnedKind::kPlacement) {
    if (fixed_layouts.empty())
      return fail("policy learned: {} is for fixed layouts, expected static:LAYOUTS/learned:FILE",
                  from);
    if (const std::string sizes = slice_sizes(fleet, fixed_layouts); sizes != settings.slices)
      return fail("policy learned: {} is for slices {}, found {}", from, settings.slices, sizes);
  }
  return make_learned_placer(std::move(*policy), seed);
}

}  // namespace smartmig
