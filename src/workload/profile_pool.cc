#include "workload/profile_pool.h"

#include <algorithm>

#include "base/text.h"
#include "workload/catalogue.h"

namespace smartmig {
namespace {

struct MadeUpSpeeds {
  std::string name;
  std::string text;
  std::array<double, kSizeCount> speed;  // By kSizes.
};
const std::vector<MadeUpSpeeds>& made_up_speeds() {
  static const std::vector<MadeUpSpeeds> rules = {
      {"linear", "linear in the compute slices", {1, 2, 3, 4, 7}},
      {"flat", "the same on every slice", {1, 1, 1, 1, 1}},
      // 1g has one of the eight memory slices of an A100, 3g and 4g have four.
      {"memory-bound", "linear in the memory slices", {1, 2, 4, 4, 8}},
      {"large-only", "linear in the compute slices, and none below 3g", {0, 0, 3, 4, 7}},
  };
  return rules;
}

// In the papers' set BERT is drawn twice as often as ResNet-50, as in their generator; elsewhere
// all are alike.
double weight(const SpeedProfile& profile) {
  return profile.set == "paper" && profile.name.starts_with("bert") ? 2 : 1;
}

Result<std::vector<std::uint16_t>> find_members(std::string_view words) {
  const auto& profiles = Catalogue::shipped().profiles();
  std::vector<std::uint16_t> members;
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    if (profiles[i].set == words || words == "catalogue")
      members.push_back(static_cast<std::uint16_t>(i));
  }
  if (!members.empty()) return members;
  for (const std::string_view word : split(words, ',')) {
    const auto at = std::ranges::find(profiles, trim(word), &SpeedProfile::name);
    if (at == profiles.end()) {
      std::vector<std::string> known = Catalogue::shipped().sets();
      known.push_back("catalogue");
      for (const MadeUpSpeeds& rule : made_up_speeds()) known.push_back(rule.name);
      // A whole catalogue is too long for a line: names only where one is near.
      std::vector<std::string> names = known;
      for (const SpeedProfile& profile : profiles) names.push_back(profile.name);
      const bool near = !nearest(word, names).empty();
      return fail("found {}, expected a set or a profile of the catalogue{}", in_quotes(word),
                  suggestion(word, near ? names : known));
    }
    members.push_back(static_cast<std::uint16_t>(at - profiles.begin()));
  }
  return members;
}

}  // namespace

Result<ProfilePool> ProfilePool::parse(std::string_view words) {
  ProfilePool pool;
  const auto rule = std::ranges::find(made_up_speeds(), words, &MadeUpSpeeds::name);
  if (rule != made_up_speeds().end()) {
    pool.made_up_ = rule->text;
    pool.made_up_speed_ = rule->speed;
    return pool;
  }
  const auto members = find_members(words);
  if (!members) return pass_on(members);
  pool.members_ = members->size();
  const auto& profiles = Catalogue::shipped().profiles();
  const auto add = [&](std::vector<Entry>& entries, auto fits) {
    if (!entries.empty()) return;
    double sum = 0;
    for (const std::uint16_t member : *members) {
      if (fits(profiles[member])) entries.push_back({member, sum += weight(profiles[member])});
    }
  };
  for (const JobKind kind : {JobKind::kInference, JobKind::kTraining}) {
    for (std::size_t size = 0; size < kSizeCount; ++size) {
      auto& entries = pool.by_kind_and_size_[static_cast<std::size_t>(kind)][size];
      add(entries, [&](const SpeedProfile& p) { return p.kind == kind && p.speed[size] > 0; });
      add(entries, [&](const SpeedProfile& p) { return p.speed[size] > 0; });
      add(entries, [&](const SpeedProfile& p) { return p.kind == kind; });
      add(entries, [&](const SpeedProfile&) { return true; });
    }
  }
  return pool;
}

std::uint16_t ProfilePool::draw(JobKind kind, int seen_on, Random& random) const {
  const double at = random.uniform();
  if (members_ == 0) return kNoProfile;
  const auto& entries =
      by_kind_and_size_[static_cast<std::size_t>(kind)][static_cast<std::size_t>(seen_on)];
  const auto chosen =
      std::ranges::upper_bound(entries, at * entries.back().up_to, {}, &Entry::up_to);
  return chosen == entries.end() ? entries.back().profile : chosen->profile;
}

std::vector<ProfilePool::Share> ProfilePool::shares(JobKind kind, int seen_on) const {
  if (members_ == 0) return {{kNoProfile, 1}};
  const auto& entries =
      by_kind_and_size_[static_cast<std::size_t>(kind)][static_cast<std::size_t>(seen_on)];
  std::vector<Share> shares;
  double before = 0;
  for (const Entry& entry : entries) {
    shares.push_back({entry.profile, (entry.up_to - before) / entries.back().up_to});
    before = entry.up_to;
  }
  return shares;
}

std::array<double, kSizeCount> ProfilePool::speed(std::uint16_t profile) const {
  return profile == kNoProfile ? made_up_speed_ : Catalogue::shipped().profiles()[profile].speed;
}

}  // namespace smartmig
