#include "control/reasons.h"

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>

#include "fleet/view.h"

namespace smartmig {
namespace {

using nlohmann::json;

constexpr std::size_t kMostLines = 300;

const Profile& profile_of(const Fleet& fleet, GpuIndex gpu, int slot) {
  const Board& board = fleet.board(gpu);
  return board.profiles[board.slots[static_cast<std::size_t>(slot)].profile];
}

// "on time with 20 s to spare" or "3 min late"
std::string punctuality(TimeUs end_us, TimeUs deadline_us) {
  if (end_us <= deadline_us)
    return fmt::format("on time with {} to spare", in_words(deadline_us - end_us));
  return fmt::format("{} late", in_words(end_us - deadline_us));
}

std::string why_stopped(const Model& model, const Round& round, JobIndex job) {
  const State& state = model.state();
  const JobState& its = state.job_state(job);
  std::string text = fmt::format("has {:.0f} % of its work left", 100 * its.saved_left);
  if (its.slice == kNone) return text;
  const GpuIndex gpu = model.fleet().gpu_of(its.slice);
  for (const auto& start : round.starts) {
    if (start.gpu != gpu) continue;
    text += fmt::format(
        " and makes room for job {}, whose deadline is {}", model.number_of(start.job),
        state.job_state(start.job).deadline_us >= state.now()
            ? "in " + in_words(state.job_state(start.job).deadline_us - state.now())
            : "past by " + in_words(state.now() - state.job_state(start.job).deadline_us));
    break;
  }
  return text;
}

}  // namespace

std::string in_words(TimeUs time_us) {
  const TimeUs seconds = (time_us + kSecondUs / 2) / kSecondUs;
  if (seconds < 60) return fmt::format("{} s", seconds);
  if (seconds < 3600)
    return seconds % 60 ? fmt::format("{} min {} s", seconds / 60, seconds % 60)
                        : fmt::format("{} min", seconds / 60);
  const TimeUs minutes = seconds / 60;
  if (minutes < 24 * 60) return fmt::format("{} h {} min", minutes / 60, minutes % 60);
  return fmt::format("{} d {} h", minutes / 60 / 24, minutes / 60 % 24);
}

std::string decision_text(const Round& round, const Model& model) {
  json stops = json::array(), targets = json::array(), starts = json::array();
  for (const JobIndex job : round.stops) stops.push_back(model.number_of(job));
  for (const auto& target : round.targets) targets.push_back({target.gpu, target.from, target.to});
  for (const auto& start : round.starts)
    starts.push_back({model.number_of(start.job), start.gpu, start.slot});
  return json{
      {"stops", std::move(stops)}, {"targets", std::move(targets)}, {"starts", std::move(starts)}}
      .dump();
}

namespace {

// The kinds of the same board that are the next smaller and the next larger of those it runs on;
// -1: there is none.
struct Neighbours {
  int smaller = -1, larger = -1;
};
Neighbours neighbours_of(const Fleet& fleet, KindSet kinds, KindIndex kind) {
  Neighbours found;
  const SliceKind& its = fleet.kinds()[kind];
  const auto compute = [&](int other) {
    return fleet.kinds()[static_cast<std::size_t>(other)].compute;
  };
  for (KindSet rest = kinds; rest; rest &= rest - 1) {
    const int other = std::countr_zero(rest);
    const SliceKind& there = fleet.kinds()[static_cast<std::size_t>(other)];
    if (there.board != its.board || !there.base) continue;
    if (there.compute < its.compute &&
        (found.smaller < 0 || there.compute > compute(found.smaller)))
      found.smaller = other;
    if (there.compute > its.compute && (found.larger < 0 || there.compute < compute(found.larger)))
      found.larger = other;
  }
  return found;
}

// Why the next larger slice was not taken, from what the policy could see.
std::string why_not_larger(const Model& model, const Round::Placed& placed, int larger) {
  const State& state = model.state();
  const TimeUs deadline_us = state.job_state(placed.job).deadline_us;
  const Seen job(state, placed.job);
  const KindIndex kind = model.fleet().kind_of_slot(placed.gpu, placed.slot);
  if (!(state.free().kinds() >> larger & 1))
    return "none was free for it, and the policy did not make one";
  if (state.now() + job.delay_us() + job.remaining_us(kind) <= deadline_us)
    return "the job is on time without it, and the larger slice is left for others";
  return "the policy expects more from the larger slice for other jobs";
}

}  // namespace

std::string why_started(const Model& model, const Round::Placed& placed) {
  const State& state = model.state();
  const Fleet& fleet = model.fleet();
  const Seen job(state, placed.job);
  const KindIndex kind = fleet.kind_of_slot(placed.gpu, placed.slot);
  const TimeUs deadline_us = state.job_state(placed.job).deadline_us;
  const bool waits = state.job_state(placed.job).status == JobStatus::kPending;
  const auto end_us = [&](int there) {
    return state.now() + job.delay_us() + job.remaining_us(there);
  };
  std::string text = fmt::format("takes {} there, {}", in_words(job.remaining_us(kind)),
                                 punctuality(end_us(kind), deadline_us));
  if (waits) text += ", once the slice is there";
  const Neighbours others = neighbours_of(fleet, fleet.kinds_for(state.job(placed.job)), kind);
  const auto alternative = [&](int other) {
    return fmt::format("{}g would take {}, {}",
                       fleet.kinds()[static_cast<std::size_t>(other)].compute,
                       in_words(job.remaining_us(other)), punctuality(end_us(other), deadline_us));
  };
  if (others.smaller >= 0) text += "; " + alternative(others.smaller);
  if (others.larger < 0) return text + "; no larger slice runs it";
  return fmt::format("{}; {}: {}", text, alternative(others.larger),
                     why_not_larger(model, placed, others.larger));
}

std::string why_changed(const Model& model, const Round& round, const Round::Target& target) {
  const Board& board = model.fleet().board(target.gpu);
  int placed = 0;
  const SlotSet fresh = target.to & ~target.from;
  for (const auto& start : round.starts)
    placed += start.gpu == target.gpu && (fresh >> start.slot & 1);
  const Transition steps = transition(board, target.from, target.to);
  std::string text = fmt::format("{} step{}, {} of its slices stay", steps.steps.size(),
                                 steps.steps.size() == 1 ? "" : "s", slice_count(steps.survivors));
  if (placed > 0) text += fmt::format("; {} of this decision's jobs run on the new ones", placed);
  text += fmt::format("; {} jobs wait, {} run", model.state().ready_count(),
                      model.state().running().size());
  return text;
}

Plan describe(const Round& round, const Model& model, const std::vector<std::string>& names) {
  Plan plan;
  plan.at_us = round.at_us;
  plan.policy = model.setup().policy;
  for (const JobIndex job : round.stops) {
    const SliceId slice = model.state().job_state(job).slice;
    plan.stops.push_back({model.number_of(job),
                          slice == kNone ? "" : names[model.fleet().gpu_of(slice)],
                          why_stopped(model, round, job)});
  }
  for (const auto& target : round.targets) {
    const Board& board = model.fleet().board(target.gpu);
    plan.changes.push_back({names[target.gpu], layout_name(board, target.from),
                            layout_name(board, target.to), why_changed(model, round, target)});
  }
  for (const auto& start : round.starts)
    plan.starts.push_back({model.number_of(start.job), names[start.gpu],
                           profile_of(model.fleet(), start.gpu, start.slot).name, start.slot,
                           why_started(model, start)});
  return plan;
}

std::string reasons_text(const Round& round, const Model& model,
                         const std::vector<std::string>& names) {
  std::string text;
  std::size_t lines = 0;
  const auto add = [&](std::string line) {
    if (lines++ < kMostLines) text += line + '\n';
  };
  for (const JobIndex job : round.stops) {
    if (lines >= kMostLines) break;
    add(fmt::format("job {} stops: it {}", model.number_of(job), why_stopped(model, round, job)));
  }
  for (const auto& target : round.targets) {
    if (lines >= kMostLines) break;
    const Board& board = model.fleet().board(target.gpu);
    add(fmt::format("{} goes from {} to {}: {}", names[target.gpu], layout_name(board, target.from),
                    layout_name(board, target.to), why_changed(model, round, target)));
  }
  for (const auto& start : round.starts) {
    if (lines >= kMostLines) break;
    add(fmt::format("job {} gets {} of {}: {}", model.number_of(start.job),
                    profile_of(model.fleet(), start.gpu, start.slot).name, names[start.gpu],
                    why_started(model, start)));
  }
  const std::size_t all = round.stops.size() + round.targets.size() + round.starts.size();
  if (all > kMostLines) text += fmt::format("and {} more\n", all - kMostLines);
  return text;
}

namespace {

// The smallest and the largest slices that the job runs on: "2g.10gb to 7g.40gb".
std::string sizes_it_runs_on(const Fleet& fleet, KindSet kinds) {
  const SliceKind* least = nullptr;
  const SliceKind* most = nullptr;
  for (KindSet rest = kinds; rest; rest &= rest - 1) {
    const SliceKind& kind = fleet.kinds()[static_cast<std::size_t>(std::countr_zero(rest))];
    if (!least || kind.compute < least->compute) least = &kind;
    if (!most || kind.compute > most->compute) most = &kind;
  }
  const auto name = [&](const SliceKind& kind) {
    return fleet.boards()[kind.board]->profiles[kind.profile].name;
  };
  return least == most ? name(*least) : fmt::format("{} to {}", name(*least), name(*most));
}

// The next slice to become free of those it runs on: "3g.20gb of GPU 4, in about 3 min".
std::string next_to_be_free(const Model& model, KindSet kinds) {
  const State& state = model.state();
  const SliceState* first = nullptr;
  SliceId first_id = 0;
  for (const SliceId id : state.running()) {
    const SliceState& slice = state.slice(id);
    if (slice.doomed || !(kinds >> slice.kind & 1) || model.number_of(slice.job) == 0) continue;
    if (!first || slice.end_us < first->end_us) first = &slice, first_id = id;
  }
  if (!first) return {};
  const GpuIndex gpu = model.fleet().gpu_of(first_id);
  return fmt::format("{} of GPU {}, in about {}", profile_of(model.fleet(), gpu, first->slot).name,
                     gpu, in_words(std::max<TimeUs>(0, first->end_us - state.now())));
}

// GPUs on which the policy may not do what would help.
void say_restrictions(const Model& model, std::vector<std::string>& lines) {
  std::size_t closed = 0, held = 0;
  for (GpuIndex gpu = 0; gpu < model.fleet().gpu_count(); ++gpu) {
    closed += !model.state().gpu(gpu).up;
    held += model.is_held(gpu);
  }
  if (closed > 0) lines.push_back(fmt::format("{} GPUs take no jobs (see `status`)", closed));
  if (held > 0)
    lines.push_back(
        fmt::format("the layouts of {} GPUs are held: no other slices are made there", held));
  if (model.limits().power_cap_w > 0)
    lines.push_back(fmt::format("the power cap is {:g} W, and the fleet draws {:.0f} W",
                                model.limits().power_cap_w, model.power_w()));
}

}  // namespace

std::vector<std::string> why_it_waits(const Model& model, JobIndex job) {
  const State& state = model.state();
  const JobState& its = state.job_state(job);
  std::vector<std::string> lines;
  const KindSet kinds = model.fleet().kinds_for(state.job(job));
  if (kinds == 0) {
    lines.push_back("no slice of this fleet has the memory and a speed for it: it will never run");
    return lines;
  }
  if (its.status == JobStatus::kPending)
    lines.push_back("it has been given a slice that is still being made or left");
  if (model.frozen()) lines.push_back("the controller is frozen: nothing is started");
  const auto& queue = state.groups()[its.group].queue;
  std::size_t ahead = 0;
  for (auto at = queue.begin(); !queue.at_end(at) && queue.at(at).job != job; queue.advance(at))
    ++ahead;
  lines.push_back(fmt::format("{} of the {} ready jobs that run on the same slices are before it",
                              ahead, queue.size()));
  lines.push_back(fmt::format("it runs on slices of {}", sizes_it_runs_on(model.fleet(), kinds)));
  if (state.free().kinds() & kinds) {
    lines.emplace_back(
        "a slice it runs on is free: the policy keeps it for others or waits for a "
        "better one");
  } else {
    const std::string next = next_to_be_free(model, kinds);
    lines.push_back("no slice it runs on is free" +
                    (next.empty() ? std::string() : "; the first to be free is " + next));
  }
  say_restrictions(model, lines);
  const TimeUs slack = its.deadline_us - state.now();
  lines.push_back(slack >= 0 ? "its deadline is in " + in_words(slack)
                             : "its deadline has passed " + in_words(-slack) + " ago");
  return lines;
}

std::vector<std::string> how_it_ended(const JobRow& job) {
  std::vector<std::string> lines;
  lines.push_back(job.phase == JobPhase::kDone
                      ? "it is done, " + punctuality(job.end_us, job.deadline_us)
                      : fmt::format("it is {}", to_string(job.phase)));
  if (!job.note.empty()) lines.push_back(job.note);
  if (job.attempt == 0) {
    lines.emplace_back("it never ran");
  } else if (job.attempt > 1) {
    lines.push_back(fmt::format("it was started {} times, and {} of work were lost", job.attempt,
                                in_words(job.lost_us)));
  }
  return lines;
}

}  // namespace smartmig
