#include <fmt/format.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "report/packed.h"
#include "report/timeline.h"
#include "workload/catalogue.h"

namespace smartmig {
namespace {

using Json = nlohmann::ordered_json;

// Times in the page are whole hundredths of a second from the run's begin: finer than any zoom.
constexpr TimeUs kUnitUs = 10'000;

std::int64_t units(TimeUs us) { return (us + kUnitUs / 2) / kUnitUs; }

// Jobs that have a piece of their own are numbered in the order of the table.
std::vector<std::uint32_t> number_named_jobs(const Timeline& timeline, std::size_t jobs) {
  std::vector<std::uint32_t> number(jobs, kNone);
  for (const TimelinePiece& piece : timeline.pieces) {
    if (piece.job != kNone) number[piece.job] = 0;
  }
  std::uint32_t next = 0;
  for (std::uint32_t& n : number) {
    if (n != kNone) n = next++;
  }
  return number;
}

Json pieces_json(const Timeline& timeline, const std::vector<std::uint32_t>& number) {
  PackedColumn slice, slot, gap, length, job, stays, busy, shade;
  SliceId last_slice = 0;
  std::int64_t last_end = 0;
  std::int64_t last_job = 0;
  for (const TimelinePiece& piece : timeline.pieces) {
    if (piece.slice != last_slice) last_end = 0;
    const std::int64_t begin = units(piece.begin_us - timeline.begin_us);
    const std::int64_t end = units(piece.end_us - timeline.begin_us);
    slice.add(piece.slice - last_slice);
    slot.add(piece.slot);
    gap.add(static_cast<std::uint64_t>(begin - last_end));
    length.add(static_cast<std::uint64_t>(end - begin));
    stays.add(piece.stays);
    if (piece.job != kNone) {
      const std::int64_t its = number[piece.job];
      job.add_signed(its - last_job);
      last_job = its;
    } else {
      busy.add(static_cast<std::uint64_t>(100 * piece.busy_us / (piece.end_us - piece.begin_us)));
      shade.add(static_cast<std::uint64_t>(piece.shade));
    }
    last_slice = piece.slice;
    last_end = end;
  }
  return {{"count", timeline.pieces.size()},
          {"slice", slice.text()},
          {"slot", slot.text()},
          {"gap", gap.text()},
          {"length", length.text()},
          {"stays", stays.text()},
          {"job", job.text()},
          {"busy", busy.text()},
          {"shade", shade.text()}};
}

Json jobs_json(const Timeline& timeline, const Engine& engine,
               const std::vector<std::uint32_t>& number) {
  PackedColumn index, training, profile, submit, deadline, finish;
  std::string ids;
  std::size_t count = 0;
  JobIndex last_index = 0;
  std::int64_t last_submit = 0;
  const JobTable& table = engine.jobs();
  for (JobIndex i = 0; i < number.size(); ++i) {
    if (number[i] == kNone) continue;
    const Job& job = table.jobs[i];
    const std::int64_t at = units(job.submit_us - timeline.begin_us);
    ++count;
    index.add(i - last_index);
    training.add(job.kind == JobKind::kTraining);
    profile.add(job.profile == kNoProfile ? 0 : job.profile + 1u);
    submit.add_signed(at - last_submit);
    deadline.add_signed(units(engine.state().job_state(i).deadline_us - timeline.begin_us) - at);
    finish.add_signed(units(engine.finish_us()[i] - timeline.begin_us) - at);
    if (!table.ids.empty()) ids += table.id(i) + '\n';
    last_index = i;
    last_submit = at;
  }
  Json json = {{"count", count},
               {"index", index.text()},
               {"training", training.text()},
               {"profile", profile.text()},
               {"submit", submit.text()},
               {"deadline", deadline.text()},
               {"finish", finish.text()}};
  if (!ids.empty()) json["ids"] = packed_text(ids);
  return json;
}

// Sets of slots are few and come again and again: a list of them, and numbers into it.
Json layouts_json(const Timeline& timeline, const Fleet& fleet) {
  std::map<std::pair<std::uint8_t, SlotSet>, std::size_t> numbers;
  Json sets = Json::array();
  PackedColumn gpu, time, set;
  GpuIndex last_gpu = 0;
  std::int64_t last_time = 0;
  for (const TimelineLayout& layout : timeline.layouts) {
    if (layout.gpu != last_gpu) last_time = 0;
    const std::int64_t at = units(layout.begin_us - timeline.begin_us);
    const auto [entry, added] =
        numbers.try_emplace({fleet.board_index(layout.gpu), layout.ready}, numbers.size());
    if (added) {
      Json slots = Json::array();
      for (int slot = 0; slot < 64; ++slot) {
        if (layout.ready >> slot & 1) slots.push_back(slot);
      }
      sets.push_back(
          {{"name", layout_name(fleet.board(layout.gpu), layout.ready)}, {"slots", slots}});
    }
    gpu.add(layout.gpu - last_gpu);
    time.add(static_cast<std::uint64_t>(at - last_time));
    set.add(layout.up ? entry->second + 1 : 0);
    last_gpu = layout.gpu;
    last_time = at;
  }
  return {{"count", timeline.layouts.size()},
          {"sets", sets},
          {"gpu", gpu.text()},
          {"time", time.text()},
          {"set", set.text()}};
}

Json boards_json(const Fleet& fleet) {
  Json boards = Json::array();
  for (const Board* board : fleet.boards()) {
    Json slots = Json::array();
    for (const Slot& slot : board->slots)
      slots.push_back({slot.start, slot.width, board->profiles[slot.profile].name});
    boards.push_back({{"name", board->name}, {"rows", board->memory_slices}, {"slots", slots}});
  }
  return boards;
}

Json rounded(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(std::round(value * 100) / 100);
  return list;
}

}  // namespace

std::string timeline_data(const Timeline& timeline, const Engine& engine) {
  const Fleet& fleet = engine.state().fleet();
  const auto number = number_named_jobs(timeline, engine.jobs().jobs.size());
  Json gpu_boards = Json::array();
  for (GpuIndex gpu = 0; gpu < timeline.gpus; ++gpu) gpu_boards.push_back(fleet.board_index(gpu));
  Json profiles = Json::array();
  for (const SpeedProfile& profile : Catalogue::shipped().profiles())
    profiles.push_back(profile.name);
  const Json json = {{"begin_s", to_s(timeline.begin_us)},
                     {"length", units(timeline.end_us - timeline.begin_us)},
                     {"unit_s", to_s(kUnitUs)},
                     {"merged_s", to_s(timeline.merged_us)},
                     {"stride", fleet.stride()},
                     {"boards", boards_json(fleet)},
                     {"gpus", gpu_boards},
                     {"profiles", profiles},
                     {"pieces", pieces_json(timeline, number)},
                     {"jobs", jobs_json(timeline, engine, number)},
                     {"layouts", layouts_json(timeline, fleet)},
                     {"bin", units(timeline.bin_us)},
                     {"queue", rounded(timeline.queue)},
                     {"power_w", rounded(timeline.power_w)},
                     {"arrivals_per_min", rounded(timeline.arrivals_per_min)}};
  return json.dump();
}

}  // namespace smartmig
