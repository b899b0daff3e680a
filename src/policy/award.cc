#include "policy/award.h"

#include <algorithm>
#include <cmath>

#include "policy/packing.h"

namespace smartmig {
namespace {

constexpr double kMaxSteepness = 20;
constexpr double kHeadStartMin = 0.01;  // Where moves cost: slices take time to be made.
constexpr double kShortMin = 0.02;      // Relative laxity of jobs that are about to end.

int slices_of(int size) { return size < 0 ? 0 : kSizes[size]; }
double speed_at(const Candidate& candidate, int size) {
  return size < 0 ? 0 : candidate.speed[size];
}

}  // namespace

void Award::begin(const Knobs& knobs, double backlog, double load, double trend, double energy,
                  bool moves_cost, double unit, double price) {
  unit_ = unit;
  const auto k = [&](Knob knob) { return get(knobs, knob); };
  const double overload = std::max(0.0, backlog);
  const double price_overload = k(Knob::kPriceOverload) * overload;
  price_now_ = price * std::exp(k(Knob::kPriceNow) + k(Knob::kPriceNowBacklog) * backlog +
                                k(Knob::kPriceNowLoad) * load + price_overload);
  price_later_ = price * std::exp(k(Knob::kPriceLater) + k(Knob::kPriceLaterBacklog) * backlog +
                                  k(Knob::kPriceLaterLoad) * load +
                                  k(Knob::kPriceLaterTrend) * trend + price_overload);
  horizon_ = std::exp(k(Knob::kHorizon));
  laxity_ = std::exp(k(Knob::kLaxity));
  tilt_from_ = std::exp(k(Knob::kTiltFrom));
  tilt_ = k(Knob::kTilt) + k(Knob::kTiltBacklog) * backlog + k(Knob::kTiltOverload) * overload;
  training_ = std::exp(k(Knob::kTraining) + k(Knob::kTrainingBacklog) * backlog);
  least_ = std::exp(k(Knob::kLeast)) * energy;
  steepness_ =
      std::min(kMaxSteepness, std::exp(k(Knob::kSteepness) + k(Knob::kSteepnessBacklog) * backlog +
                                       k(Knob::kSteepnessOverload) * overload));
  on_time_ = std::exp(k(Knob::kOnTime));
  hold_ = moves_cost ? std::exp(k(Knob::kHold)) : 1;
  margin_ = moves_cost ? 1 + std::exp(k(Knob::kMargin)) : 1;
  head_start_ = moves_cost ? kHeadStartMin : 0;
}

// A job that ends soon pays today's price for its slices, a long one mostly tomorrow's.
double Award::price(double work) const {
  const double now = std::exp(-work / horizon_);
  return price_now_ * now + price_later_ * (1 - now);
}

// At the size that costs it least from here on, tardiness and slices together: what a minute of
// work there saves of both. Tardiness counts as far as it is certain.
double Award::value_of_work(const Candidate& candidate) const {
  const double price = this->price(candidate.work);
  double least = 0;
  int best = -1;
  for (int size = 0; size < kSizeCount; ++size) {
    if (candidate.speed[size] == 0) continue;
    const double cost = late_minutes(0, candidate.minutes[size], candidate.slack) +
                        price * kSizes[size] * candidate.minutes[size];
    if (best < 0 || cost < least) least = cost, best = size;
  }
  const double minutes = candidate.minutes[best];
  const double laxity = (std::max(0.0, candidate.slack) - minutes) / (minutes + kShortMin);
  const double urgency = laxity <= 0 ? 1 : std::exp(-laxity * laxity_);
  return (urgency + price * kSizes[best]) / candidate.speed[best];
}

bool Award::weigh(const View& view, JobIndex job, KindSet kinds, int held,
                  Candidate& candidate) const {
  const auto times = view.believed_times(job, kinds);
  int first = 0;
  while (first < kSizeCount && times[first] == 0) ++first;
  if (first == kSizeCount) return false;
  const double left = view.believed_left(job) / kMinuteUs / unit_;
  const double delay = view.costs().start_us > 0 ? to_min(view.look_at(job).delay_us()) / unit_ : 0;
  candidate.job = job;
  candidate.kinds = kinds;
  for (int size = 0; size < kSizeCount; ++size) {
    candidate.speed[size] = times[size] > 0 ? times[first] / times[size] : 0;
    candidate.minutes[size] = times[size] > 0 ? delay + left * times[size] : 0;
  }
  candidate.work = left * times[first];
  candidate.slack = to_min(view.job(job).deadline_us - view.now()) / unit_;
  candidate.held = static_cast<std::int8_t>(held);
  candidate.size = candidate.next = -1;
  double weight = value_of_work(candidate) * std::pow(candidate.work + tilt_from_, tilt_);
  if (view.job(job).kind == JobKind::kTraining) weight *= training_;
  candidate.weight = std::clamp(weight, 1e-9, 1e9);
  return true;
}

double Award::density(const Candidate& candidate, int from, int to) const {
  const double efficiency =
      (speed_at(candidate, to) - speed_at(candidate, from)) / (slices_of(to) - slices_of(from));
  double density = candidate.weight * efficiency;
  if (efficiency < 1 && efficiency > 0)
    density = candidate.weight * std::pow(efficiency, steepness_);
  if (from >= 0 && candidate.minutes[from] * margin_ + head_start_ <= candidate.slack)
    density *= on_time_;
  if (candidate.held > from) density *= hold_;
  return density;
}

// The larger size that gains most speed per slice: steps along the concave hull.
void Award::find_step(Candidate& candidate) const {
  candidate.next = -1;
  const double speed = speed_at(candidate, candidate.size);
  const int slices = slices_of(candidate.size);
  double best = 0;
  for (int size = candidate.size + 1; size < kSizeCount; ++size) {
    const double efficiency = (candidate.speed[size] - speed) / (kSizes[size] - slices);
    if (efficiency > best * (1 + 1e-9)) {
      best = efficiency;
      candidate.next = static_cast<std::int8_t>(size);
    }
  }
  if (candidate.next >= 0) candidate.density = density(candidate, candidate.size, candidate.next);
}

// Shortens the next step to what is left; false: there is no such step.
bool Award::fits_in_what_is_left(Candidate& candidate, int slices, int gpus) {
  for (; candidate.next > candidate.size; --candidate.next) {
    if (candidate.speed[candidate.next] == 0 ||
        slices_of(candidate.next) - slices_of(candidate.size) > slices)
      continue;
    if (gpus == 0) return true;
    if (candidate.size >= 0) --given_[candidate.size];
    ++given_[candidate.next];
    if (a100s_can_hold(given_, gpus)) return true;
    --given_[candidate.next];
    if (candidate.size >= 0) ++given_[candidate.size];
  }
  return false;
}

int Award::give(std::vector<Candidate>& candidates, int slices, int gpus) {
  given_.fill(0);
  heap_.clear();
  for (std::uint32_t i = 0; i < candidates.size(); ++i) {
    find_step(candidates[i]);
    if (candidates[i].next >= 0) heap_.push_back({candidates[i].density, i});
  }
  std::make_heap(heap_.begin(), heap_.end());
  while (slices > 0 && !heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end());
    const Entry entry = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) {
      // Most likely the next.
      const char* next = reinterpret_cast<const char*>(&candidates[heap_.front().index]);
      __builtin_prefetch(next, 1);
      __builtin_prefetch(next + 64);
    }
    Candidate& candidate = candidates[entry.index];
    if (candidate.size >= 0 && entry.density < least_) continue;
    if (!fits_in_what_is_left(candidate, slices, gpus)) continue;
    slices -= slices_of(candidate.next) - slices_of(candidate.size);
    candidate.size = candidate.next;
    find_step(candidate);
    if (candidate.next < 0) continue;
    heap_.push_back({candidate.density, entry.index});
    std::push_heap(heap_.begin(), heap_.end());
  }
  return slices;
}

}  // namespace smartmig
