// Power and times of a boards file.
#include <algorithm>
#include <cmath>

#include "mig/board_reader.h"

namespace smartmig {
namespace {

constexpr double kMaxWatts = 1e5;

// Checks that more busy slices never draw less, and that the context level lies between idle and
// busy.
void check_power(const JsonFields& fields, const Board& board) {
  const BoardPower& power = board.power;
  if (!power.assumed && power.busy_w.size() != static_cast<std::size_t>(board.compute_slices) + 1) {
    fields.report("busy_w",
                  fmt::format("found {} values, expected {}: for 0 to {} busy compute slices",
                              power.busy_w.size(), board.compute_slices + 1, board.compute_slices));
  }
  if (!power.assumed && !std::is_sorted(power.busy_w.begin(), power.busy_w.end())) {
    fields.report("busy_w", "falls, expected power that does not fall as slices get busy");
  }
  if (power.additive && power.cap_w < power.context_idle_w) {
    fields.report("additive_cap_w",
                  fmt::format("found {}, expected at least context_idle_w", power.cap_w));
  }
  if (power.max_limit_w > 0 &&
      (power.limit_w > power.max_limit_w || power.limit_w < power.min_limit_w)) {
    fields.report("limit_w",
                  fmt::format("found {}, expected a value within the limits", power.limit_w));
  }
}

std::array<TimeUs, kSizeCount> read_sizes(const JsonFields& fields, const Board& board) {
  std::array<TimeUs, kSizeCount> out{};
  fields.only({"1", "2", "3", "4", "7"});
  for (const Profile& profile : board.profiles) {
    const int index = size_index(profile.compute_slices);
    if (index < 0) continue;  // Reported already.
    const double seconds = fields.number(std::to_string(profile.compute_slices), 0, 3600);
    out[static_cast<std::size_t>(index)] = to_us(seconds);
  }
  return out;
}

}  // namespace

void read_power(const JsonFields& fields, const SourceTexts& texts, Board& board) {
  const JsonFields power = fields.object("power");
  power.only({"idle_w", "limit_w", "min_limit_w", "max_limit_w", "busy_w", "context_idle_w",
              "context_linger_s", "additive_cap_w", "sources", "note"});
  BoardPower& out = board.power;
  const double idle_w = power.number("idle_w", 0, kMaxWatts);
  out.limit_w = power.number("limit_w", idle_w, kMaxWatts);
  out.min_limit_w = power.number("min_limit_w", 0, kMaxWatts, 0);
  out.max_limit_w = power.number("max_limit_w", 0, kMaxWatts, 0);
  out.assumed = !power.has("busy_w");
  out.busy_w = out.assumed ? std::vector<double>{idle_w} : power.numbers("busy_w", 0, kMaxWatts);
  if (!out.busy_w.empty() && out.busy_w[0] != idle_w)
    power.report("busy_w", "does not begin with idle_w");
  // Where it was not measured there is one idle level.
  out.context_idle_w = power.number("context_idle_w", idle_w, kMaxWatts, idle_w);
  out.context_linger_us = to_us(power.number("context_linger_s", 0, 3600, 0));
  out.additive = power.has("additive_cap_w");
  out.cap_w = power.number("additive_cap_w", idle_w, kMaxWatts, out.limit_w);
  out.source = read_sources(power, texts);
  out.note = power.text("note", "");
  check_power(power, board);
}

void read_times(const JsonFields& fields, const SourceTexts& texts, Board& board) {
  const JsonFields times = fields.object("times");
  times.only({"create_s", "destroy_s", "assumed_from", "sources"});
  board.times.create_us = read_sizes(times.object("create_s"), board);
  board.times.destroy_us = read_sizes(times.object("destroy_s"), board);
  board.times.source = read_sources(times, texts);
  board.times.assumed = times.has("assumed_from");
  if (board.times.assumed) {
    board.times.source =
        fmt::format("those of {}: {}", times.text("assumed_from"), board.times.source);
  }
}

void scale_power(const BoardPower& shape, Board& board) {
  const std::vector<double>& s = shape.busy_w;
  const auto m = static_cast<double>(s.size() - 1);
  const double idle_w = board.power.busy_w[0];
  const double span = s.back() - s.front();
  for (int busy = 1; busy <= board.compute_slices; ++busy) {
    const double x = m * busy / board.compute_slices;
    const auto low = std::min(static_cast<std::size_t>(x), s.size() - 2);
    const double w = s[low] + (s[low + 1] - s[low]) * (x - static_cast<double>(low));
    const double share = span > 0 ? (w - s.front()) / span : 0;
    board.power.busy_w.push_back(idle_w + share * (board.power.limit_w - idle_w));
  }
}

}  // namespace smartmig
