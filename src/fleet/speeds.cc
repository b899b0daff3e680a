#include "fleet/speeds.h"

#include <algorithm>

#include "base/text.h"

namespace smartmig {
namespace {

constexpr double kLeastFactor = 1e-3;
constexpr double kMostFactor = 1e3;

struct Given {
  std::string board;
  double factor = 1;
};
Result<Given> parse_given(const std::string& text, const Fleet& fleet) {
  const std::size_t equals = text.find('=');
  const auto factor =
      equals == std::string::npos ? std::nullopt : parse_number(text.substr(equals + 1));
  if (!factor || !(*factor >= kLeastFactor && *factor <= kMostFactor)) {
    return fail("--speed-factor: found {}, expected BOARD=X, X a number from {:g} to {:g}",
                in_quotes(text), kLeastFactor, kMostFactor);
  }
  const auto board = BoardTable::shipped().find(text.substr(0, equals));
  if (!board) return fail("--speed-factor: {}", board.error().message);
  const auto is_named = [&](const Board* of_fleet) { return of_fleet->name == (*board)->name; };
  if (std::ranges::none_of(fleet.boards(), is_named)) {
    return fail("--speed-factor: found {}, expected a board of the fleet {}",
                in_quotes((*board)->name), fleet.name());
  }
  return Given{(*board)->name, *factor};
}

// What is known of two factors against kTimesBoard whose ratio is used; its own needs no words.
std::string ratio_note(const Board& board, const Board& taken_on) {
  std::string note = fmt::format("the ratio of two factors against an {}: {} and {}", kTimesBoard,
                                 factor_text(board), factor_text(taken_on));
  for (const Board* one : {&board, &taken_on}) {
    if (one->name != kTimesBoard) note += fmt::format("; {}: {}", one->name, one->speed.note);
  }
  return note;
}

// How fast a board is where the times were taken on slices of `taken_on`.
BoardSpeed speed_against(const Board& board, const Board& taken_on) {
  BoardSpeed speed = board.speed;
  for (int size = 0; size < kSizeCount; ++size) speed.factor[size] /= taken_on.speed.factor[size];
  if (board.name == taken_on.name) {
    speed.confidence = SpeedConfidence::kMeasured;
  } else if (taken_on.name != kTimesBoard) {
    speed.confidence = std::max(speed.confidence, taken_on.speed.confidence);
    speed.note = ratio_note(board, taken_on);
  }
  return speed;
}

}  // namespace

std::string_view to_string(SpeedConfidence confidence) {
  switch (confidence) {
    case SpeedConfidence::kMeasured:
      return "measured";
    case SpeedConfidence::kDerived:
      return "derived";
    case SpeedConfidence::kAssumed:
      return "assumed";
    case SpeedConfidence::kGiven:
      return "given by --speed-factor";
  }
  return "";
}

std::string factor_text(const Board& board) {
  std::vector<std::string> each;
  std::vector<double> values;
  for (int size = 0; size < kSizeCount; ++size) {
    if (board.base_profile(kSizes[size]) < 0) continue;
    values.push_back(board.speed.factor[size]);
    each.push_back(fmt::format("{:.3g} ({}g)", values.back(), kSizes[size]));
  }
  const bool same = std::ranges::all_of(values, [&](double v) { return v == values.front(); });
  return same ? fmt::format("{:.3g}", values.front()) : join(each, ", ");
}

Result<Fleet> fleet_with_speeds(const Fleet& fleet, const std::string& trace_board,
                                std::span<const std::string> factors) {
  const auto taken_on = BoardTable::shipped().find(trace_board.empty() ? kTimesBoard : trace_board);
  if (!taken_on) return fail("--trace-board: {}", taken_on.error().message);
  std::vector<BoardSpeed> speeds;
  for (const Board* board : fleet.boards()) speeds.push_back(speed_against(*board, **taken_on));
  std::vector<std::string> named;
  for (const std::string& text : factors) {
    const auto given = parse_given(text, fleet);
    if (!given) return pass_on(given);
    if (std::ranges::find(named, given->board) != named.end())
      return fail("--speed-factor: {} is given twice, expected one factor for each board",
                  given->board);
    named.push_back(given->board);
    const auto at = std::ranges::find(fleet.boards(), given->board, &Board::name);
    BoardSpeed& speed = speeds[static_cast<std::size_t>(at - fleet.boards().begin())];
    speed = {};
    speed.factor.fill(given->factor);
    speed.confidence = SpeedConfidence::kGiven;
  }
  return fleet.with_speeds(speeds, (*taken_on)->name);
}

std::vector<std::string> speed_assumptions(const Fleet& fleet) {
  std::vector<std::string> lines;
  for (const Board* board : fleet.boards()) {
    const bool given = board->speed.confidence == SpeedConfidence::kGiven;
    if (board->name == fleet.times_board() && !given) {
      if (fleet.times_board() != kTimesBoard)
        lines.push_back(fmt::format("{}: the board that the trace's times are for", board->name));
      continue;
    }
    lines.push_back(fmt::format("{}: times of {} slices divided by {} ({}{}{})", board->name,
                                fleet.times_board(), factor_text(*board),
                                to_string(board->speed.confidence),
                                board->speed.note.empty() ? "" : ": ", board->speed.note));
  }
  return lines;
}

}  // namespace smartmig
