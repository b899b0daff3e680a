#include "report/timeline.h"

#include <algorithm>

#include "report/bin_means.h"

namespace smartmig {
namespace {

// Stays of one slice in a row, while they are short and close enough to be shown as one.
class Merger {
 public:
  Merger(const Engine& engine, TimeUs limit_us, std::vector<TimelinePiece>& out)
      : engine_(engine), limit_us_(limit_us), out_(out) {}

  void add(const StayRecord& stay) {
    const TimeUs length = stay.end_us - stay.begin_us;
    const bool is_short = length < limit_us_;
    if (open_ && !(is_short && joins(stay))) flush();
    if (!open_) {
      piece_ = {stay.begin_us, stay.begin_us, stay.slice, stay.job, 0, 0, stay.slot, {}};
      shade_us_ = {};
      open_ = true;
    }
    piece_.end_us = stay.end_us;
    piece_.busy_us += length;
    ++piece_.stays;
    shade_us_[static_cast<std::size_t>(shade_of(engine_, stay.job))] += length;
    if (!is_short) flush();
  }
  void flush() {
    if (!open_) return;
    const auto most = std::max_element(shade_us_.begin(), shade_us_.end());
    piece_.shade = static_cast<Shade>(most - shade_us_.begin());
    if (piece_.stays > 1) piece_.job = kNone;
    out_.push_back(piece_);
    open_ = false;
  }

 private:
  // A piece of several stays no longer than this many limits: it must still say when a slice was
  // busy and when less so.
  static constexpr TimeUs kLongest = 4;
  bool joins(const StayRecord& stay) const {
    return stay.slice == piece_.slice && stay.slot == piece_.slot &&
           stay.begin_us - piece_.end_us < limit_us_ &&
           stay.end_us - piece_.begin_us < kLongest * limit_us_;
  }

  const Engine& engine_;
  TimeUs limit_us_;
  std::vector<TimelinePiece>& out_;
  TimelinePiece piece_;
  std::array<TimeUs, kShades> shade_us_{};
  bool open_ = false;
};

// Limits grow by half: finer steps would leave less room unused, and take longer to find.
TimeUs next_limit(TimeUs limit) { return limit == 0 ? kSecondUs : limit + limit / 2; }

// What the pieces take of a timeline's room.
std::size_t room_of(const std::vector<TimelinePiece>& pieces, std::size_t jobs) {
  constexpr std::size_t kRoomOfJob = 2;
  std::size_t room = pieces.size();
  std::vector<bool> named(jobs);
  for (const TimelinePiece& piece : pieces) {
    if (piece.job == kNone || named[piece.job]) continue;
    named[piece.job] = true;
    room += kRoomOfJob;
  }
  return room;
}

void add_pieces(Timeline& timeline, const Engine& engine, std::size_t room) {
  const Fleet& fleet = engine.state().fleet();
  std::vector<StayRecord> stays;
  for (StayRecord stay : engine.records()->stays()) {
    stay.begin_us = std::max(stay.begin_us, timeline.begin_us);
    stay.end_us = std::min(stay.end_us, timeline.end_us);
    const bool shown = stay.begin_us < stay.end_us && fleet.gpu_of(stay.slice) < timeline.gpus;
    if (shown) stays.push_back(stay);
  }
  std::sort(stays.begin(), stays.end(), [](const StayRecord& a, const StayRecord& b) {
    return a.slice != b.slice ? a.slice < b.slice : a.begin_us < b.begin_us;
  });
  for (TimeUs limit = 0;; limit = next_limit(limit)) {
    timeline.pieces.clear();
    Merger merger(engine, limit, timeline.pieces);
    for (const StayRecord& stay : stays) merger.add(stay);
    merger.flush();
    timeline.merged_us = limit;
    // Beyond the run's length nothing more can be merged.
    const bool fits = room_of(timeline.pieces, engine.jobs().jobs.size()) <= room;
    if (fits || limit > timeline.end_us - timeline.begin_us) return;
  }
}

// The layouts of each GPU that lasted at least `limit`; shorter ones count as the one before.
std::vector<TimelineLayout> layouts_lasting(const std::vector<TimelineLayout>& all, TimeUs end_us,
                                            TimeUs limit) {
  std::vector<TimelineLayout> kept;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool last = i + 1 == all.size() || all[i + 1].gpu != all[i].gpu;
    const TimeUs length = (last ? end_us : all[i + 1].begin_us) - all[i].begin_us;
    const bool first = kept.empty() || kept.back().gpu != all[i].gpu;
    if (length == 0 || (!first && length < limit)) continue;
    const bool same = !first && kept.back().ready == all[i].ready && kept.back().up == all[i].up;
    if (!same) kept.push_back(all[i]);
  }
  return kept;
}

void add_layouts(Timeline& timeline, const Engine& engine, std::size_t room) {
  std::vector<TimelineLayout> all;
  for (const LayoutRecord& record : engine.records()->layouts()) {
    if (record.gpu >= timeline.gpus || record.at_us >= timeline.end_us) continue;
    // What was there before is there from the begin on; of several the last lasts.
    all.push_back({std::max(record.at_us, timeline.begin_us), record.gpu, record.ready, record.up});
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const TimelineLayout& a, const TimelineLayout& b) { return a.gpu < b.gpu; });
  // What is merged of pieces is merged here, too.
  for (TimeUs limit = timeline.merged_us;; limit = next_limit(limit)) {
    timeline.layouts = layouts_lasting(all, timeline.end_us, limit);
    timeline.merged_us = limit;
    if (timeline.layouts.size() <= room || limit > timeline.end_us - timeline.begin_us) return;
  }
}

// The shortest round length of which at most kMaxBins span the run.
TimeUs bin_length(TimeUs span_us) {
  for (const TimeUs seconds : {1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200}) {
    if (span_us <= seconds * kSecondUs * static_cast<TimeUs>(Timeline::kMaxBins))
      return seconds * kSecondUs;
  }
  const TimeUs days = span_us / (kDayUs * static_cast<TimeUs>(Timeline::kMaxBins)) + 1;
  return days * kDayUs;
}

void add_series(Timeline& timeline, const Engine& engine) {
  timeline.bin_us = bin_length(timeline.end_us - timeline.begin_us);
  const auto bins = [&]<class Value>(Value) {
    return BinMeans<Value>(timeline.begin_us, timeline.end_us, timeline.bin_us);
  };
  auto waiting = bins(std::int64_t{});
  auto arrivals = bins(std::int64_t{});
  const std::vector<Job>& jobs = engine.jobs().jobs;
  for (JobIndex job = 0; job < jobs.size(); ++job) {
    waiting.add(jobs[job].submit_us, engine.finish_us()[job], 1);
    arrivals.add(jobs[job].submit_us, jobs[job].submit_us + 1, 1);
  }
  for (const StayRecord& stay : engine.records()->stays())
    waiting.add(stay.begin_us, stay.end_us, -1);
  timeline.queue = waiting.means();
  timeline.arrivals_per_min = arrivals.means();
  // Each arrival lasted one microsecond: means are jobs a microsecond.
  for (double& rate : timeline.arrivals_per_min) rate *= static_cast<double>(kMinuteUs);

  auto power = bins(double{});
  std::vector<PowerRecord> last(engine.state().fleet().gpu_count());
  const auto account = [&](const PowerRecord& record) {
    power.add(last[record.gpu].at_us, record.at_us, last[record.gpu].watts);
    last[record.gpu] = record;
  };
  for (const PowerRecord& record : engine.records()->power()) account(record);
  for (GpuIndex gpu = 0; gpu < last.size(); ++gpu) account({timeline.end_us, gpu, 0});
  timeline.power_w = power.means();
}

}  // namespace

Shade shade_of(const Engine& engine, JobIndex job) {
  const bool training = engine.jobs().jobs[job].kind == JobKind::kTraining;
  const bool late = engine.finish_us()[job] > engine.state().job_state(job).deadline_us;
  if (late) return training ? Shade::kLateTraining : Shade::kLateInference;
  return training ? Shade::kTraining : Shade::kInference;
}

Timeline make_timeline(const Engine& engine, std::size_t room,
                       const std::optional<TimeSpan>& part) {
  SM_CHECK(engine.records().has_value());
  Timeline timeline;
  timeline.begin_us = part ? part->begin_us : engine.begin_us();
  timeline.end_us = part ? part->end_us : engine.charged_end_us();
  timeline.end_us = std::max(timeline.end_us, timeline.begin_us + 1);
  timeline.gpus = std::min(engine.state().fleet().gpu_count(), Timeline::kMaxGpus);
  add_pieces(timeline, engine, room);
  add_layouts(timeline, engine, room);
  add_series(timeline, engine);
  return timeline;
}

std::vector<Tick> clock_ticks(TimeUs begin_us, TimeUs end_us, std::size_t most) {
  constexpr std::array<TimeUs, 12> kSteps = {
      kMinuteUs,   5 * kMinuteUs, 10 * kMinuteUs, 30 * kMinuteUs, kHourUs,    2 * kHourUs,
      3 * kHourUs, 6 * kHourUs,   12 * kHourUs,   kDayUs,         2 * kDayUs, 5 * kDayUs};
  const TimeUs span = end_us - begin_us;
  TimeUs step = kSteps.back();
  for (std::size_t i = kSteps.size(); i-- > 0;) {
    if (span / kSteps[i] < static_cast<TimeUs>(most)) step = kSteps[i];
  }
  while (span / step >= static_cast<TimeUs>(most)) step *= 2;
  std::vector<Tick> ticks;
  for (TimeUs at = (begin_us + step - 1) / step * step; at <= end_us; at += step) {
    const TimeUs minutes = at / kMinuteUs % (24 * 60);
    const bool days = step >= kDayUs || (span > kDayUs * 3 / 2 && minutes == 0);
    ticks.push_back(
        {static_cast<double>(at), days ? fmt::format("day {}", at / kDayUs)
                                       : fmt::format("{:02}:{:02}", minutes / 60, minutes % 60)});
  }
  return ticks;
}

}  // namespace smartmig
