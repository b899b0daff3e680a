#include "drivers/simulated/board_meter.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/result.h"

namespace smartmig {
namespace {

constexpr double kSecondsPerUs = 1e-6;

}  // namespace

void BoardMeter::pass(const BoardPower& power, TimeUs until, Level& level, Sums& sums) {
  const TimeUs length = until - level.since_us;
  SM_CHECK(length >= 0);
  level.since_us = until;
  if (!level.up) return;
  if (level.busy == 0) {
    const TimeUs context = level.lingers ? std::min(length, power.context_linger_us) : 0;
    sums.context_us += context;
    sums.level_us[0] += length - context;
  } else if (power.additive) {
    sums.added_j += std::min(power.cap_w, power.context_idle_w + level.added_w) *
                    static_cast<double>(length) * kSecondsPerUs;
  } else {
    sums.level_us[static_cast<std::size_t>(level.busy)] += length;
  }
}

void BoardMeter::apply(const Change& change, Level& level) {
  switch (change.kind) {
    case Kind::kBusy:
      level.busy += change.compute;
      level.added_w = level.busy == 0 ? 0 : level.added_w + change.watts;
      level.lingers = true;
      SM_CHECK(level.busy >= 0 && level.busy < kMaxLevels);
      break;
    case Kind::kDown:
      level = {.since_us = level.since_us, .up = false};
      break;
    case Kind::kUp:
      level = {.since_us = level.since_us};
      break;
  }
}

void BoardMeter::add(const BoardPower& power, const Change& change, TimeUs settle_us) {
  std::size_t settled = 0;
  while (settled < recent_.size() && recent_[settled].at_us < settle_us) {
    pass(power, recent_[settled].at_us, now_, sums_);
    apply(recent_[settled++], now_);
  }
  recent_.erase(recent_.begin(), recent_.begin() + static_cast<std::ptrdiff_t>(settled));
  SM_CHECK(change.at_us >= now_.since_us);
  const auto later = [](TimeUs time, const Change& other) { return time < other.at_us; };
  recent_.insert(std::upper_bound(recent_.begin(), recent_.end(), change.at_us, later), change);
}

double BoardMeter::energy_j(const BoardPower& power, TimeUs now) const {
  Level level = now_;
  Sums sums = sums_;
  for (const Change& change : recent_) {
    pass(power, change.at_us, level, sums);
    apply(change, level);
  }
  pass(power, std::max(now, level.since_us), level, sums);
  double watt_us = power.context_idle_w * static_cast<double>(sums.context_us);
  for (std::size_t busy = 0; busy < power.busy_w.size(); ++busy)
    watt_us += power.busy_w[busy] * static_cast<double>(sums.level_us[busy]);
  return watt_us * kSecondsPerUs + sums.added_j;
}

double BoardMeter::power_w(const BoardPower& power, TimeUs now) const {
  Level level = now_;
  for (const Change& change : recent_) {
    level.since_us = change.at_us;
    apply(change, level);
  }
  if (!level.up) return 0;
  if (level.busy > 0) {
    return power.additive ? std::min(power.cap_w, power.context_idle_w + level.added_w)
                          : power.busy_w[static_cast<std::size_t>(level.busy)];
  }
  const bool open = level.lingers && now - level.since_us < power.context_linger_us;
  return open ? power.context_idle_w : power.busy_w[0];
}

void BoardMeter::save(std::string& out) const {
  fmt::format_to(std::back_inserter(out), "[{},{},{},{:d},{:d},{},{},[", now_.since_us,
                 now_.added_w, now_.busy, now_.up, now_.lingers, sums_.context_us, sums_.added_j);
  for (int i = 0; i < kMaxLevels; ++i)
    fmt::format_to(std::back_inserter(out), "{}{}", i == 0 ? "" : ",",
                   sums_.level_us[static_cast<std::size_t>(i)]);
  out += "],[";
  for (const Change& change : recent_) {
    if (&change != recent_.data()) out += ',';
    fmt::format_to(std::back_inserter(out), "[{},{:d},{},{}]", change.at_us,
                   static_cast<int>(change.kind), change.compute, change.watts);
  }
  out += "]]";
}

BoardMeter BoardMeter::load(const nlohmann::json& saved) {
  BoardMeter meter;
  meter.now_ = {.since_us = saved.at(0).get<TimeUs>(),
                .added_w = saved.at(1).get<double>(),
                .busy = saved.at(2).get<int>(),
                .up = saved.at(3).get<int>() != 0,
                .lingers = saved.at(4).get<int>() != 0};
  meter.sums_.context_us = saved.at(5).get<std::int64_t>();
  meter.sums_.added_j = saved.at(6).get<double>();
  saved.at(7).get_to(meter.sums_.level_us);
  for (const nlohmann::json& change : saved.at(8)) {
    meter.recent_.push_back({.at_us = change.at(0).get<TimeUs>(),
                             .kind = static_cast<Kind>(change.at(1).get<int>()),
                             .compute = change.at(2).get<int>(),
                             .watts = change.at(3).get<double>()});
  }
  return meter;
}

}  // namespace smartmig
