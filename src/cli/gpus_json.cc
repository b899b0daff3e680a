#include <bit>

#include "cli/gpus_view.h"
#include "fleet/speeds.h"

namespace smartmig {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<const char*, 6> kKindNames = {"base",     "media",     "double-memory",
                                                   "graphics", "media-all", "no-media"};
constexpr std::array<const char*, 4> kEngineNames = {"decoders", "encoders", "jpeg", "ofa"};

Json slot_json(const Board& board, int index) {
  const Slot& slot = board.slots[static_cast<std::size_t>(index)];
  const Profile& profile = board.profiles[slot.profile];
  return {
      {"profile", profile.name}, {"id", profile.id}, {"start", slot.start}, {"size", slot.width}};
}

// The slices of a set, in the order of their starts.
Json set_json(const Board& board, SlotSet set) {
  Json list = Json::array();
  for (int start = 0; start < board.memory_slices; ++start) {
    for (SlotSet rest = set; rest != 0; rest &= rest - 1) {
      const int index = std::countr_zero(rest);
      if (board.slots[static_cast<std::size_t>(index)].start == start)
        list.push_back(slot_json(board, index));
    }
  }
  return list;
}

Json engines_json(const std::array<int, 4>& engines) {
  Json out;
  for (std::size_t e = 0; e < engines.size(); ++e) {
    out[kEngineNames[e]] = engines[e] < 0 ? Json(nullptr) : Json(engines[e]);
  }
  return out;
}

Json profile_json(const Profile& profile) {
  return {{"name", profile.name},
          {"id", profile.id},
          {"kind", kKindNames[static_cast<std::size_t>(profile.kind)]},
          {"compute_slices", profile.compute_slices},
          {"memory_slices", profile.memory_slices},
          {"memory_mib", profile.memory_mib},
          {"memory_assumed", profile.memory_assumed},
          {"sms", profile.sms},
          {"max_count", profile.max_count},
          {"starts", profile.starts},
          {"engines", engines_json(profile.engines)},
          {"copy_engines", profile.copy_engines > 0 ? Json(profile.copy_engines) : Json(nullptr)}};
}

Json power_json(const BoardPower& power) {
  return {{"busy_w", power.busy_w},
          {"context_idle_w", power.context_idle_w},
          {"context_linger_s", to_s(power.context_linger_us)},
          {"additive", power.additive},
          {"cap_w", power.cap_w},
          {"limit_w", power.limit_w},
          {"assumed", power.assumed},
          {"source", power.source}};
}

Json times_json(const Board& board) {
  Json create, destroy;
  for (std::size_t i = 0; i < kSizeCount; ++i) {
    if (board.base_profile(kSizes[i]) < 0) continue;
    create[std::to_string(kSizes[i])] = to_s(board.times.create_us[i]);
    destroy[std::to_string(kSizes[i])] = to_s(board.times.destroy_us[i]);
  }
  return {{"create_s", create},
          {"destroy_s", destroy},
          {"assumed", board.times.assumed},
          {"source", board.times.source}};
}

Json speed_json(const Board& board) {
  Json factor;
  for (std::size_t i = 0; i < kSizeCount; ++i) {
    if (board.base_profile(kSizes[i]) >= 0)
      factor[std::to_string(kSizes[i])] = board.speed.factor[i];
  }
  return {{"factor", factor},
          {"confidence", to_string(board.speed.confidence)},
          {"source", board.speed.source},
          {"note", board.speed.note}};
}

}  // namespace

Json boards_json(const std::vector<BoardView>& views) {
  Json list = Json::array();
  for (const BoardView& view : views) {
    const Board& board = *view.board;
    list.push_back({{"board", board.name},
                    {"architecture", board.architecture},
                    {"memory_gb", board.memory_gb},
                    {"compute_slices", board.compute_slices},
                    {"memory_slices", board.memory_slices},
                    {"profiles", board.profiles.size()},
                    {"legal_sets", view.legal_sets},
                    {"maximal_placements", view.maximal_placements},
                    {"layouts", view.layouts.size()},
                    {"confidence", board.confidence}});
  }
  return list;
}

Json board_json(const BoardView& view) {
  const Board& board = *view.board;
  Json out = {{"board", board.name},
              {"aliases", board.aliases},
              {"pci_ids", board.pci_ids},
              {"architecture", board.architecture},
              {"memory_gb", board.memory_gb},
              {"compute_slices", board.compute_slices},
              {"memory_slices", board.memory_slices},
              {"max_instances", board.max_instances},
              {"sms", board.sms},
              {"engines", engines_json(board.engines_total)},
              {"all_profiles", view.all_profiles},
              {"legal_sets", view.legal_sets},
              {"maximal_placements", view.maximal_placements},
              {"layouts", view.layouts.size()}};
  Json& rows = out["layout_list"] = Json::array();
  for (const LayoutRow& row : view.layouts) {
    rows.push_back({{"layout", row.name},
                    {"compute_slices", compute_slices(board, row.canonical)},
                    {"maximal_placements", row.placements},
                    {"slices", set_json(board, row.canonical)}});
  }
  Json& profiles = out["profiles"] = Json::array();
  for (const Profile& profile : board.profiles) profiles.push_back(profile_json(profile));
  out["power"] = power_json(board.power);
  out["times"] = times_json(board);
  out["speed"] = speed_json(board);
  out["assumed"] = assumptions(board);
  out["rules"] = board.rules;
  out["confidence"] = board.confidence;
  out["source"] = board.source;
  out["note"] = board.note;
  return out;
}

Json change_json(const Board& board, const ChangeView& change) {
  Json steps = Json::array();
  TimeUs total_us = 0;  // In whole microseconds: a sum of seconds would show rounding.
  for (const Step& step : change.transition.steps) {
    Json row = {{"step", step.kind == Step::Kind::kCreate ? "create" : "destroy"}};
    row.update(slot_json(board, step.slot));
    row["seconds"] = step_seconds(board, step);
    total_us += to_us(step_seconds(board, step));
    steps.push_back(std::move(row));
  }
  return {
      {"from",
       {{"layout", layout_name(board, change.from)}, {"slices", set_json(board, change.from)}}},
      {"to", {{"layout", layout_name(board, change.to)}, {"slices", set_json(board, change.to)}}},
      {"survivors", set_json(board, change.transition.survivors)},
      {"steps", std::move(steps)},
      {"seconds", to_s(total_us)}};
}

}  // namespace smartmig
