// `smartmig gpus`: boards, their profiles and layouts, and changes from one layout to another.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>

#include "cli/cli.h"
#include "cli/gpus_view.h"
#include "cli/help.h"

namespace smartmig {
namespace {

struct GpusOptions {
  std::optional<std::string> board;
  bool layouts = false;
  std::optional<std::string> from, to;
  bool all_profiles = false;
  bool json = false;
};

int list_boards(const GpusOptions& options) {
  if (options.layouts) return bad_input("--layouts needs a board: smartmig gpus BOARD --layouts");
  if (options.from)
    return bad_input("--from and --to need a board: smartmig gpus BOARD --from L --to L");
  std::vector<BoardView> views;
  for (const Board& board : BoardTable::shipped().boards())
    views.push_back(view_board(board, options.all_profiles));
  if (options.json) {
    fmt::print("{}\n", boards_json(views).dump(2));
  } else {
    fmt::print("{}", boards_text(views));
  }
  return 0;
}

int show_board(const GpusOptions& options) {
  const auto found = BoardTable::shipped().find(*options.board);
  if (!found) return bad_input(found.error().message);
  const Board& board = **found;
  std::optional<ChangeView> change;
  if (options.from) {
    const auto from = parse_layout(board, *options.from);
    if (!from) return bad_input(from.error().message);
    const auto to = parse_layout(board, *options.to);
    if (!to) return bad_input(to.error().message);
    change = view_change(board, *from, *to);
  }
  const BoardView view = view_board(board, options.all_profiles);
  if (options.json) {
    nlohmann::ordered_json out = board_json(view);
    if (change) out["transition"] = change_json(board, *change);
    fmt::print("{}\n", out.dump(2));
  } else if (options.layouts || change) {
    if (options.layouts) fmt::print("{}", layouts_text(view));
    if (change) fmt::print("{}{}", options.layouts ? "\n" : "", change_text(board, *change));
  } else {
    fmt::print("{}", board_text(view));
  }
  return 0;
}

int run_gpus(const GpusOptions& options) {
  if (options.from.has_value() != options.to.has_value()) {
    return bad_input(options.from ? "--from needs --to" : "--to needs --from");
  }
  return options.board ? show_board(options) : list_boards(options);
}

}  // namespace

void add_gpus(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("gpus", "Show boards, their MIG profiles and layouts");
  const auto options = std::make_shared<GpusOptions>();
  command
      ->add_option("board", options->board,
                   "A board by name or alias (default: a table of all boards)")
      ->option_text("BOARD");
  command->add_flag("--layouts", options->layouts,
                    "List the layouts, each with a picture of its memory slices");
  command->add_option("--from", options->from, "A layout, such as 4-2-1 or 4-1g.10gb-1")
      ->option_text("LAYOUT");
  command
      ->add_option(
          "--to", options->to,
          "The layout to go to: shows which slices survive, and the steps with their seconds")
      ->option_text("LAYOUT");
  command->add_flag("--all-profiles", options->all_profiles,
                    "Count layouts with every profile (default: base profiles only)");
  command->add_flag("--json", options->json, "Print JSON (power in W, times in s, memory in MiB)");
  add_examples(*command,
               {{"Show what a board can be cut into", "smartmig gpus H100-80GB --layouts"},
                {"Show what a change of layout destroys",
                 "smartmig gpus A100-40GB --from 4-2-1 --to 3-2-2"}});
  command->callback([options, &action] { action = [options] { return run_gpus(*options); }; });
}

}  // namespace smartmig
