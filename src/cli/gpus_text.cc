#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/text.h"
#include "cli/gpus_view.h"
#include "fleet/speeds.h"

namespace smartmig {
namespace {

// After the compute size in a picture, by ProfileKind.
constexpr std::array<std::string_view, 6> kKindMarks = {"", "m", "d", "g", "a", "n"};
constexpr std::string_view kLegend =
    "m: with media engines, d: double memory, g: graphics, a: all media engines, n: no media "
    "engines\n";

std::string slot_text(const Board& board, int index) {
  const Slot& slot = board.slots[static_cast<std::size_t>(index)];
  return fmt::format("{} at {}", board.profiles[slot.profile].name, slot.start);
}

std::string starts_text(const Profile& profile) {
  return fmt::format("{}", fmt::join(profile.starts, " "));
}

std::string profiles_text(const Board& board) {
  std::string out = fmt::format("{:<15} {:>3} {:>8} {:>7} {:>7} {:>4} {:>4}  {}\n", "profile", "id",
                                "compute", "memory", "MiB", "SMs", "max", "starts");
  for (const Profile& p : board.profiles) {
    out += fmt::format("{:<15} {:>3} {:>8} {:>7} {:>7} {:>4} {:>4}  {}\n", p.name, p.id,
                       p.compute_slices, p.memory_slices, p.memory_mib, p.sms, p.max_count,
                       starts_text(p));
  }
  return out;
}

std::string power_text(const Board& board) {
  const BoardPower& power = board.power;
  std::string out = "power, busy compute slices and W\n ";
  for (std::size_t i = 0; i < power.busy_w.size(); ++i) out += fmt::format(" {:>6}", i);
  out += "\n ";
  for (double watts : power.busy_w) out += fmt::format(" {:>6.1f}", watts);
  out += '\n';
  if (power.context_idle_w > power.busy_w[0]) {
    out += fmt::format(
        "  a context held, nothing running: {} W, until {} s after the last process ends\n",
        power.context_idle_w, to_s(power.context_linger_us));
  }
  if (power.additive) {
    out += fmt::format("  with real costs: {} W and the running jobs' own power, up to {} W\n",
                       power.context_idle_w, power.cap_w);
  }
  if (!power.note.empty()) out += fmt::format("  {}\n", power.note);
  return out;
}

std::string times_text(const Board& board) {
  std::string head = fmt::format("{:<10}", "times, s"), create = "  create  ",
              destroy = "  destroy ";
  for (std::size_t i = 0; i < kSizeCount; ++i) {
    if (board.base_profile(kSizes[i]) < 0) continue;
    head += fmt::format(" {:>5}g", kSizes[i]);
    create += fmt::format(" {:>6.2f}", to_s(board.times.create_us[i]));
    destroy += fmt::format(" {:>6.2f}", to_s(board.times.destroy_us[i]));
  }
  return fmt::format("{}\n{}\n{}\n", head, create, destroy);
}

std::string speed_text(const Board& board) {
  return fmt::format("speed: {} times that of an A100-40GB slice of the same size ({})\n  {}\n",
                     factor_text(board), to_string(board.speed.confidence), board.speed.note);
}

std::string list_text(std::string_view title, const std::vector<std::string>& lines) {
  if (lines.empty()) return {};
  std::string out = fmt::format("\n{}\n", title);
  for (const std::string& line : lines) out += fmt::format("  {}\n", line);
  return out;
}

std::string counts_text(const BoardView& view) {
  return fmt::format("{} legal sets with the empty one, {} maximal placements, {} layouts ({})",
                     view.legal_sets, view.maximal_placements, view.layouts.size(),
                     view.all_profiles ? "all profiles" : "base profiles");
}

}  // namespace

std::string picture(const Board& board, SlotSet set) {
  constexpr std::size_t kCell = 3;  // A bar and two letters.
  const auto cells = static_cast<std::size_t>(board.memory_slices);
  std::string out;
  for (std::size_t i = 0; i < cells; ++i) out += "|  ";
  out += '|';
  for (; set != 0; set &= set - 1) {
    const Slot& slot = board.slots[static_cast<std::size_t>(std::countr_zero(set))];
    const Profile& profile = board.profiles[slot.profile];
    std::string label = fmt::format("{}{}", profile.compute_slices,
                                    kKindMarks[static_cast<std::size_t>(profile.kind)]);
    label.resize(slot.width * kCell - 1, '-');
    out.replace(slot.start * kCell + 1, label.size(), label);
  }
  return out;
}

std::string boards_text(const std::vector<BoardView>& views) {
  const auto row = [](const auto&... columns) {
    return fmt::format("{:<23} {:<16} {:>6} {:>8} {:>7} {:>9} {:>8}  {}\n", columns...);
  };
  std::string out =
      row("board", "architecture", "GB", "compute", "memory", "profiles", "layouts", "confidence");
  for (const BoardView& view : views) {
    const Board& b = *view.board;
    out += row(b.name, b.architecture, b.memory_gb, b.compute_slices, b.memory_slices,
               b.profiles.size(), view.layouts.size(), b.confidence);
  }
  return out +
         "compute, memory: slices of the whole board; `smartmig gpus BOARD` shows one of them\n";
}

std::string board_text(const BoardView& view) {
  const Board& board = *view.board;
  std::string out = fmt::format("{}: {}, {} GB, {} compute and {} memory slices, {} SMs\n\n",
                                board.name, board.architecture, board.memory_gb,
                                board.compute_slices, board.memory_slices, board.sms);
  out += profiles_text(board);
  out += fmt::format("{}\n\n", counts_text(view));
  out += power_text(board);
  out += '\n' + times_text(board);
  out += '\n' + speed_text(board);
  const std::vector<std::string> assumed = assumptions(board);
  out += assumed.empty() ? "\nassumed: nothing\n" : list_text("assumed", assumed);
  out += list_text("rules", board.rules);
  out += fmt::format("\ngeometry: {}; {}\n", board.confidence, board.source);
  if (!board.note.empty()) out += fmt::format("note: {}\n", board.note);
  return out;
}

std::string layouts_text(const BoardView& view) {
  const Board& board = *view.board;
  std::size_t width = std::string_view("layout").size();
  for (const LayoutRow& row : view.layouts) width = std::max(width, row.name.size());
  std::string out =
      fmt::format("{}: {}\n\n{:<{}}  {:<{}}  {:>7}  {}\n", board.name, counts_text(view), "layout",
                  width, "first placement", picture(board, 0).size(), "compute", "placements");
  for (const LayoutRow& row : view.layouts) {
    out +=
        fmt::format("{:<{}}  {}  {:>7}  {:>10}\n", row.name, width, picture(board, row.canonical),
                    compute_slices(board, row.canonical), row.placements);
  }
  out += "placements: maximal ones, to which no slice can be added; a cell is a memory slice\n";
  if (view.all_profiles) out += kLegend;
  return out;
}

std::string change_text(const Board& board, const ChangeView& change) {
  const Transition& t = change.transition;
  std::string out = fmt::format("{}: {} to {}\n", board.name, layout_name(board, change.from),
                                layout_name(board, change.to));
  out += fmt::format("  from  {}\n  to    {}\n", picture(board, change.from),
                     picture(board, change.to));
  std::vector<std::string> kept;
  for (SlotSet rest = t.survivors; rest != 0; rest &= rest - 1) {
    kept.push_back(slot_text(board, std::countr_zero(rest)));
  }
  out += fmt::format("survive: {}\n", kept.empty() ? "none" : join(kept, ", "));
  if (t.steps.empty()) return out + "nothing to do\n";
  TimeUs total_us = 0;
  for (std::size_t i = 0; i < t.steps.size(); ++i) {
    const double seconds = step_seconds(board, t.steps[i]);
    total_us += to_us(seconds);
    out += fmt::format("{:>3}  {:<7} {:<20} {:>6.2f} s\n", i + 1,
                       t.steps[i].kind == Step::Kind::kCreate ? "create" : "destroy",
                       slot_text(board, t.steps[i].slot), seconds);
  }
  return out + fmt::format("{:<32} {:>6.2f} s, one step at a time\n", "", to_s(total_us));
}

}  // namespace smartmig
