#include "base/text.h"
#include "policy/on_demand.h"

namespace smartmig {
namespace {

// One word after REQUEST; false if it is none of them, or the second of its sort.
class OnDemandWords {
 public:
  explicit OnDemandWords(OnDemandRules& rules) : rules_(rules) {}

  bool take(std::string_view word) {
    if (word == "keep") return std::exchange(rules_.keep, true) == false;
    if (word == "skip" || word == "strict") {
      rules_.strict = word == "strict";
      return std::exchange(has_queue_, true) == false;
    }
    constexpr std::pair<std::string_view, Fit> kFits[] = {{"room", Fit::kRoom},
                                                          {"first", Fit::kFirst},
                                                          {"pack", Fit::kPack},
                                                          {"spread", Fit::kSpread}};
    for (const auto& [name, fit] : kFits) {
      if (word != name) continue;
      rules_.fit = fit;
      return std::exchange(has_fit_, true) == false;
    }
    return false;
  }

 private:
  OnDemandRules& rules_;
  bool has_fit_ = false;
  bool has_queue_ = false;
};

}  // namespace

Result<OnDemandRules> OnDemandRules::parse(std::string_view text) {
  const auto words = split(text, ',');
  OnDemandRules rules;
  auto requests = Requests::parse(words.front());
  if (!requests) return pass_on(requests);
  rules.requests = std::move(*requests);
  OnDemandWords rest(rules);
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (rest.take(words[i])) continue;
    return fail(
        "policy on-demand: found {}, expected room, first, pack or spread, then skip or strict, "
        "then keep, each at most once",
        in_quotes(words[i]));
  }
  return rules;
}

}  // namespace smartmig
