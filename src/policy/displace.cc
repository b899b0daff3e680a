#include "policy/displace.h"

#include <algorithm>
#include <array>

namespace smartmig {
namespace {

using Victim = DisplacementRoom::Victim;

struct Pair {
  TimeUs fall_us = 0;
  JobIndex job = kNone;
  std::size_t victim = 0;
};

class Displacement {
 public:
  Displacement(const View& view, DisplacementRoom& room, Decision& decision)
      : view_(view),
        decision_(decision),
        victims_(room.victims),
        given_away_(room.given_away),
        placed_(room.placed) {
    victims_.clear();
    given_away_.clear();
    placed_.clear();
  }

  void run() {
    find_victims();
    find_availability();
    given_away_.reserve(victims_.size());
    placed_.reserve(victims_.size());
    decision_.stops.reserve(victims_.size());
    if (!can_pay()) return;
    // Each round carries out the largest fall; the number of rounds is at most that of the victims.
    while (!victims_.empty()) {
      const Pair best = best_pair();
      if (best.job == kNone) return;
      const Victim victim = victims_[best.victim];
      decision_.stops.push_back(victim.job);
      decision_.starts.push_back({best.job, victim.slice, view_.slice(victim.slice).slot});
      given_away_.push_back(victim.slice);
      placed_.push_back(best.job);
      victims_.erase(victims_.begin() + static_cast<std::ptrdiff_t>(best.victim));
      find_availability();
    }
  }

 private:
  TimeUs late(JobIndex job, TimeUs end) const {
    return std::max<TimeUs>(0, end - view_.job(job).deadline_us);
  }
  // Before a job that starts again makes progress: its process's start, and its restore if it has
  // run.
  TimeUs overhead(JobIndex job) const {
    return view_.costs().start_us + (view_.has_run(job) ? view_.restore_us(job) : 0);
  }
  bool can_be_had(SliceId id) const {
    const SeenSlice slice = view_.slice(id);
    return !slice.doomed && !view_.is_awaited(view_.fleet().gpu_of(id), slice.slot) &&
           std::find(given_away_.begin(), given_away_.end(), id) == given_away_.end();
  }

  // Calls body(id) for each running job's slice, with memory asked for before it is looked at.
  template <class Body>
  void for_each_running(Body body) const {
    constexpr std::size_t kAhead = 8;
    const auto running = view_.running();
    for (std::size_t i = 0; i < running.size(); ++i) {
      if (i + 2 * kAhead < running.size()) view_.prefetch_slice(running[i + 2 * kAhead]);
      if (i + kAhead < running.size()) view_.prefetch(view_.slice(running[i + kAhead]).job);
      body(running[i]);
    }
  }

  void find_victims() {
    for_each_running([this](SliceId id) {
      const SeenSlice slice = view_.slice(id);
      const SeenJob job = view_.job(slice.job);
      if (!job.preemptible || job.status != JobStatus::kRunning || !can_be_had(id)) return;
      Victim victim;
      victim.slice = id;
      victim.job = slice.job;
      victim.kind = slice.kind;
      victim.save_us = view_.checkpoint_us(slice.job);
      victim.overhead_us = overhead(slice.job);
      victim.remaining_us = view_.remaining_us(slice.job, slice.kind);
      victim.late_us = late(slice.job, view_.believed_end(id));
      victim.end_elsewhere_us = kNever;
      for (KindSet rest = view_.free().kinds() & view_.kinds(slice.job); rest; rest &= rest - 1) {
        const auto kind = static_cast<KindIndex>(std::countr_zero(rest));
        const TimeUs end =
            view_.now() + victim.save_us + victim.overhead_us + view_.remaining_us(slice.job, kind);
        victim.end_elsewhere_us = std::min(victim.end_elsewhere_us, end);
      }
      victims_.push_back(victim);
    });
  }

  // For each kind the earliest time at which a slice of it is to be had.
  void find_availability() {
    available_us_.fill(kNever);
    for (KindSet rest = view_.free().kinds(); rest; rest &= rest - 1)
      available_us_[std::countr_zero(rest)] = view_.now();
    for_each_running([this](SliceId id) {
      if (!can_be_had(id)) return;
      TimeUs& available = available_us_[view_.slice(id).kind];
      if (available > view_.now()) available = std::min(available, view_.believed_end(id));
    });
  }

  // Whether anything can come of it, whatever the jobs. A job gains no more than the time from when
  // a victim has saved until a slice of that kind is to be had anyway; and a victim is back at the
  // earliest when the job takes no time. On large fleets under load this spares nearly all the
  // looking.
  bool can_pay() const {
    return std::any_of(victims_.begin(), victims_.end(), [this](const Victim& victim) {
      const TimeUs saved_us = view_.now() + victim.save_us;
      const TimeUs gain = std::max<TimeUs>(0, available_us_[victim.kind] - saved_us);
      const TimeUs back =
          std::min(saved_us + victim.overhead_us + victim.remaining_us, victim.end_elsewhere_us);
      return gain + victim.late_us - late(victim.job, back) > 0;
    });
  }

  Pair best_pair() {
    Pair best;
    for (const State::Group& group : view_.groups()) {
      for (auto cursor = group.queue.begin(); !group.queue.at_end(cursor);
           group.queue.advance(cursor)) {
        try_job(group.queue.at(cursor).job, group.kinds, best);
      }
    }
    return best;
  }

  void try_job(JobIndex job, KindSet kinds, Pair& best) {
    if (std::find(placed_.begin(), placed_.end(), job) != placed_.end()) return;
    const TimeUs overhead_us = overhead(job);
    const Seen seen = view_.look_at(job);
    TimeUs end = kNever;  // Without displacement.
    for (KindSet rest = kinds; rest; rest &= rest - 1) {
      const int kind = std::countr_zero(rest);
      if (available_us_[kind] == kNever) continue;
      const TimeUs there = available_us_[kind] + overhead_us + seen.remaining_us(kind);
      if (available_us_[kind] == view_.now() && late(job, there) == 0) return;
      end = std::min(end, there);
    }
    if (end == kNever) return;
    const TimeUs late_without = late(job, end);
    for (std::size_t v = 0; v < victims_.size(); ++v) {
      const Victim& victim = victims_[v];
      if (!(kinds >> victim.kind & 1)) continue;
      const TimeUs end_with =
          view_.now() + victim.save_us + overhead_us + seen.remaining_us(victim.kind);
      const TimeUs gain = late_without - late(job, end_with);
      // At best the victim is no longer late either: where a faster slice is free it may gain from
      // being moved.
      if (gain + victim.late_us <= 0 || gain + victim.late_us < best.fall_us) continue;
      const TimeUs back =
          std::min(end_with + victim.overhead_us + victim.remaining_us, victim.end_elsewhere_us);
      const TimeUs fall = gain + victim.late_us - late(victim.job, back);
      if (fall <= 0 || fall < best.fall_us) continue;
      const bool first = fall > best.fall_us || job < best.job ||
                         (job == best.job && victim.slice < victims_[best.victim].slice);
      if (first) best = {fall, job, v};
    }
  }

  const View& view_;
  Decision& decision_;
  std::vector<Victim>& victims_;
  std::vector<SliceId>& given_away_;
  std::vector<JobIndex>& placed_;
  std::array<TimeUs, kMaxKinds> available_us_{};
};

}  // namespace

void displace(const View& view, DisplacementRoom& room, Decision& decision) {
  if (view.ready_count() == 0) return;
  Displacement(view, room, decision).run();
}

}  // namespace smartmig
