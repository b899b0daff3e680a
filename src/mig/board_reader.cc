#include "mig/board_reader.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/text.h"

namespace smartmig {
namespace {

constexpr std::string_view kFormat = "smartmig-boards-1";

SpeedConfidence read_confidence(const JsonFields& speed) {
  constexpr std::array<std::string_view, 3> kNames = {"measured", "derived", "assumed"};
  const std::string text = speed.text("confidence");
  const auto at = std::ranges::find(kNames, text);
  if (at != kNames.end()) return static_cast<SpeedConfidence>(at - kNames.begin());
  speed.report("confidence",
               fmt::format("found {}, expected measured, derived or assumed", in_quotes(text)));
  return SpeedConfidence::kAssumed;
}

void read_speed(const JsonFields& fields, const SourceTexts& texts, Board& board) {
  if (!fields.has("speed")) return;
  const JsonFields speed = fields.object("speed");
  speed.only({"factor", "confidence", "sources", "note"});
  const JsonFields factor = speed.object("factor");
  factor.only({"1", "2", "3", "4", "7"});
  for (std::size_t size = 0; size < kSizes.size(); ++size) {
    if (board.base_profile(kSizes[size]) >= 0) {
      board.speed.factor[size] = factor.number(std::to_string(kSizes[size]), 1e-3, 1e3);
    } else if (size > 0) {
      board.speed.factor[size] = board.speed.factor[size - 1];
    }
  }
  board.speed.confidence = read_confidence(speed);
  board.speed.source = read_sources(speed, texts);
  board.speed.note = speed.text("note", "");
}

MigMode read_mig_mode(const JsonFields& fields, const SourceTexts& texts) {
  MigMode mode;
  if (!fields.has("mig_mode")) return mode;
  const JsonFields mig = fields.object("mig_mode");
  mig.only({"toggle_needs_reset", "survives_reboot", "instances_survive_reboot", "sources"});
  mode.toggle_needs_reset = mig.boolean("toggle_needs_reset", mode.toggle_needs_reset);
  mode.survives_reboot = mig.boolean("survives_reboot", mode.survives_reboot);
  mode.instances_survive_reboot =
      mig.boolean("instances_survive_reboot", mode.instances_survive_reboot);
  read_sources(mig, texts);
  return mode;
}

Board read_board(const JsonFields& fields, const SourceTexts& texts) {
  fields.only({"name", "aliases", "pci_ids", "architecture", "memory_gb", "compute_slices",
               "memory_slices", "max_instances", "sms", "engines", "profiles", "rules", "power",
               "times", "speed", "mig_mode", "sources", "confidence", "note"});
  Board board;
  board.name = fields.text("name");
  board.aliases = fields.texts("aliases");
  board.pci_ids = fields.texts("pci_ids");
  board.architecture = fields.text("architecture");
  board.memory_gb = fields.integer("memory_gb", 1, 4096);
  // The largest board known has 7 and 12; the bounds keep every set of slices small enough to
  // enumerate.
  board.compute_slices = fields.integer("compute_slices", 1, 8);
  board.memory_slices = fields.integer("memory_slices", 1, 16);
  board.max_instances = fields.integer("max_instances", 1, 16);
  board.sms = fields.integer("sms", 1, 4096);
  board.source = read_sources(fields, texts);
  board.confidence = fields.text("confidence");
  board.note = fields.text("note", "");
  read_geometry(fields, texts, board);
  read_power(fields, texts, board);
  read_times(fields, texts, board);
  read_speed(fields, texts, board);
  board.mig_mode = read_mig_mode(fields, texts);
  return board;
}

SourceTexts read_source_texts(const JsonFields& root) {
  SourceTexts texts;
  const JsonFields table = root.object("sources");
  for (const std::string& key : table.keys()) texts[key] = table.text(key);
  return texts;
}

// Gives the boards without a curve of their own the shape of the board that `power_shape_of` names.
void scale_powers(const JsonFields& root, std::vector<Board>& boards) {
  const std::string name = root.text("power_shape_of", "");
  const BoardPower* shape = nullptr;
  for (const Board& board : boards) {
    if (board.name == name && !board.power.assumed) shape = &board.power;
  }
  if (!name.empty() && !shape) {
    root.report(
        "power_shape_of",
        fmt::format("found {}, expected a board of this file that has busy_w", in_quotes(name)));
  }
  for (Board& board : boards) {
    if (!board.power.assumed) continue;
    if (shape) {
      scale_power(*shape, board);
    } else {
      root.report("", fmt::format("board {} has no busy_w, and there is no power_shape_of to scale",
                                  board.name));
    }
  }
}

}  // namespace

std::string read_sources(const JsonFields& fields, const SourceTexts& texts) {
  std::vector<std::string> found;
  for (const std::string& key : fields.texts("sources")) {
    const auto at = texts.find(key);
    if (at == texts.end()) {
      fields.report("sources",
                    fmt::format("found {}, expected a key of the sources table", in_quotes(key)));
    } else {
      found.push_back(at->second);
    }
  }
  if (found.empty())
    fields.report("sources", "is missing, expected at least one key of the sources table");
  return join(found, "; ");
}

Result<BoardTable> BoardTable::parse(std::string_view json, const std::string& name) {
  JsonDocument document(name);
  if (!document.parse(json)) return tl::unexpected<Error>(*document.error());
  const JsonFields root = document.root();
  root.only({"format", "power_shape_of", "sources", "boards"});
  if (const std::string format = root.text("format"); format != kFormat) {
    root.report("format", fmt::format("found {}, expected '{}'", in_quotes(format), kFormat));
  }
  const SourceTexts texts = read_source_texts(root);
  BoardTable table;
  std::set<std::string> names;
  root.each("boards", [&](const JsonFields& fields) {
    Board board = read_board(fields, texts);
    if (!names.insert(board.name).second) fields.report("name", "stands twice");
    for (const std::string& alias : board.aliases) {
      if (!names.insert(alias).second)
        fields.report("aliases", fmt::format("{} stands twice", in_quotes(alias)));
    }
    table.boards_.push_back(std::move(board));
  });
  if (!document.error() && table.boards_.empty())
    root.report("boards", "is empty, expected at least one board");
  if (!document.error()) scale_powers(root, table.boards_);
  if (document.error()) return tl::unexpected<Error>(*document.error());
  return table;
}

}  // namespace smartmig
