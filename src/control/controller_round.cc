// Decisions: from the model's round to rows, and from durable rows to the workers.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "control/bounded_call.h"
#include "control/controller_impl.h"
#include "control/reasons.h"
#include "workload/catalogue.h"

namespace smartmig {
namespace {

using nlohmann::json;

constexpr std::int64_t kLongNs = 2'000'000;

// A job's own watts on boards measured job by job; 0 elsewhere.
double own_watts(const Job& job, int size) {
  if (job.profile == kNoProfile) return 0;
  return Catalogue::shipped().profiles()[job.profile].watts[static_cast<std::size_t>(size)];
}

bool has_all(const GpuReading& reading, const std::vector<std::string>& runs) {
  return std::all_of(runs.begin(), runs.end(), [&](const std::string& run) {
    return std::any_of(reading.slices.begin(), reading.slices.end(),
                       [&](const SliceReading& slice) { return slice.run == run; });
  });
}

}  // namespace

std::string Controller::Impl::slice_name(GpuIndex gpu, int slot) const {
  const Board& board = model->fleet().board(gpu);
  const Slot& place = board.slots[static_cast<std::size_t>(slot)];
  return fmt::format("{}@{}", board.profiles[place.profile].name, place.start);
}

void Controller::Impl::round(TimeUs now) {
  const std::int64_t begin_ns = monotonic_ns();
  round_due = false;
  Event event;
  event.kind = Event::Kind::kRound;
  event.at_us = std::max(now, model->now());
  EventRow event_row = to_row(event);
  event_row.number = next_event++;
  const std::int64_t number = event_row.number;
  rows.emplace_back(std::move(event_row));
  const Round& decided = model->round(event.at_us);
  if (decided.decided()) {
    rows.emplace_back(DecisionRow{number, decided.at_us, decision_text(decided, *model),
                                  reasons_text(decided, *model, gpu_names())});
    remember_reasons(decided);
    for (const auto& target : decided.targets)
      note_change(target.gpu, target.from,
                  {LayoutChange::By::kPolicy, options.setup.policy, decided.at_us, number});
  }
  // Before the orders: another change of the same GPU may be among them.
  for (const auto& closed : decided.closed) {
    const GpuBook& gpu = gpus[closed.gpu];
    // The intent of a change that failed stays open until the way back is over.
    if (gpu.undo_reason.empty() && !gpu.moving)
      close_intent(closed.gpu, closed.whole ? "done" : "done so far: jobs on it must end first");
    changed(closed.gpu);
  }
  for (const Order& next : decided.orders) order(next, decided.at_us);
  at("decided");
  close_resumed_intents();
  const bool acts = !calls.empty() || decided.decided();
  const bool written = !acts || flush({}).has_value();
  const std::int64_t took_ns = monotonic_ns() - begin_ns;
  const auto tick_ns = static_cast<std::int64_t>(options.tick_ms * 1e6 / fleet.clock.speed);
  // Of a large fleet a decision takes long; as much time is left for all else.
  next_round_ns = begin_ns + std::max(tick_ns, took_ns > kLongNs ? 2 * took_ns : 0);
  count_round(decided, static_cast<double>(took_ns) / 1e9);
  if (written && decided.decided())
    notice("decision", json{{"number", number},
                            {"at_s", to_s(decided.at_us)},
                            {"starts", decided.starts.size()},
                            {"stops", decided.stops.size()},
                            {"changes", decided.targets.size()}}
                           .dump());
}

void Controller::Impl::count_round(const Round& decided, double took_s) {
  const std::lock_guard lock(seen_mutex);
  ++counted.rounds;
  counted.decisions += decided.decided();
  counted.starts += static_cast<std::int64_t>(decided.starts.size());
  counted.stops += static_cast<std::int64_t>(decided.stops.size());
  counted.layout_changes += static_cast<std::int64_t>(decided.targets.size());
  counted.withheld_budget += decided.withheld_budget;
  counted.withheld_no_gain += decided.withheld_no_gain;
  counted.withheld_power += decided.withheld_power;
  if (!decided.decided()) return;
  counted.decide_ms_buckets.resize(std::size(kDecideBucketsMs) + 1);
  std::size_t bucket = 0;
  while (bucket < std::size(kDecideBucketsMs) && took_s * 1000 > kDecideBucketsMs[bucket]) ++bucket;
  ++counted.decide_ms_buckets[bucket];
  counted.decide_s_sum += took_s;
}

// Intents of an earlier controller that nothing is left to do of: something else was decided since.
void Controller::Impl::close_resumed_intents() {
  std::erase_if(resumed_intents, [this](GpuIndex index) {
    const GpuBook& gpu = gpus[index];
    const GpuState& state = model->state().gpu(index);
    if (!gpu.intent) return true;
    if (state.present != state.target || state.operation_end_us != kNever ||
        !gpu.undo_reason.empty() || gpu.moving)
      return false;
    close_intent(index, "found done after a restart");
    return true;
  });
}

// For `explain`: why each job that runs was started, and each GPU cut as it is.
void Controller::Impl::remember_reasons(const Round& decided) {
  for (const auto& start : decided.starts)
    start_reasons[model->number_of(start.job)] = why_started(*model, start);
  for (const auto& target : decided.targets)
    change_reasons[target.gpu] = why_changed(*model, decided, target);
}

// Enters an order in the books and lines up the call that carries it out.
void Controller::Impl::order(const Order& next, TimeUs at_us) {
  switch (next.kind) {
    case Order::Kind::kCreate:
    case Order::Kind::kDestroy:
      return order_step(next, at_us);
    case Order::Kind::kStart:
      return order_start(next, at_us);
    case Order::Kind::kStop:
      break;
  }
  JobBook& book = jobs.at(model->number_of(next.job));
  book.row.phase = JobPhase::kSaving;
  book.stop_due_us = next.expected_us;
  watched.insert(book.row.number);
  order_stop(book, true, at_us);
  rows.emplace_back(book.row);
  changed(book);
}

void Controller::Impl::order_step(const Order& next, TimeUs at_us) {
  GpuBook& gpu = gpus[next.gpu];
  CallDone done;
  done.kind = CallDone::Kind::kStep;
  done.gpu = next.gpu;
  done.slot = next.slot;
  done.create = next.kind == Order::Kind::kCreate;
  const SlotSet target = model->state().gpu(next.gpu).target;
  if (!gpu.intent) open_intent(next.gpu, model->change_base(next.gpu), target, at_us);
  gpu.intent->target = target;
  gpu.wanted.reset();
  gpu.intent->step = fmt::format("{} {}", done.create ? "create" : "destroy", next.slot);
  rows.emplace_back(*gpu.intent);
  calls.emplace_back(next.gpu, [driver = driver, done, known = gpu.slices, at_us]() mutable {
    done.outcome = done.create ? make_slice(*driver, done.gpu, done.slot, known, at_us)
                               : destroy_slice(*driver, done.gpu, done.slot, known, at_us);
    return done;
  });
  changed(next.gpu);
}

void Controller::Impl::order_start(const Order& next, TimeUs at_us) {
  GpuBook& gpu = gpus[next.gpu];
  JobBook& book = jobs.at(model->number_of(next.job));
  const SliceState& slice = model->state().slice(
      model->fleet().slice_at(next.gpu, model->fleet().board(next.gpu).slots[next.slot].start));
  ++book.row.attempt;
  book.row.phase = JobPhase::kStarting;
  book.begun = false;
  book.row.gpu = gpu.row.uuid;
  book.row.slice = gpu.slices.at(next.slot);
  if (book.row.start_us < 0) book.row.start_us = at_us;
  book.row.begin_us = slice.begin_us;
  if (book.max_runtime_us) watched.insert(book.row.number);
  expect_end(book, next.expected_us);
  const Job& job = model->state().job(next.job);
  RunOrder run;
  run.run = run_name(book.row.number, book.row.attempt);
  run.slice_uuid = book.row.slice;
  run.full_us = State::whole_us(model->fleet().full_us(job, slice.kind));
  run.left = model->state().job_state(next.job).left;
  run.restore_us = slice.begin_us - at_us;
  run.checkpoint_us = model->state().costs().checkpoint_us(job);
  run.watts = own_watts(job, model->fleet().kinds()[slice.kind].size);
  CallDone done;
  done.kind = CallDone::Kind::kStart;
  done.gpu = next.gpu;
  done.slot = next.slot;
  done.job = book.row.number;
  done.attempt = book.row.attempt;
  done.slice = book.row.slice;
  calls.emplace_back(next.gpu, [driver = driver, done, run, seen = taken_event, at_us]() mutable {
    done.outcome = start_run(*driver, done.gpu, run, seen, at_us);
    return done;
  });
  rows.emplace_back(book.row);
  changed(book);
}

std::vector<std::string> Controller::Impl::runs_on(GpuIndex index) const {
  std::vector<std::string> runs;
  for (const JobNumber number : jobs_on(index))
    runs.push_back(run_name(number, jobs.at(number).row.attempt));
  return runs;
}

// Hands out the calls whose rows are durable. Where a look lacks a run that should be there, the
// events up to it are fetched as well: they are after the last that is journalled.
void Controller::Impl::dispatch() {
  if (calls.empty()) return;
  if (!rows.empty() && !flush({})) return;
  at("journalled, calls not made");
  const double limit_s = options.call_timeout_s / 2;  // Of a call that is a part of another.
  for (auto& [gpu, work] : calls) {
    const auto done = std::make_shared<CallDone>();
    lanes->add(
        gpu,
        [done, work = std::move(work), driver = driver, runs = runs_on(gpu), seen = taken_event,
         limit_s] {
          *done = work();
          if (!done->outcome.reading || has_all(*done->outcome.reading, runs)) return;
          done->events = bounded_call(
              driver, limit_s, [seen](Driver& there) { return events_up_to_now(there, seen); });
        },
        [done, inbox = inbox] { inbox->put(std::move(*done)); });
  }
  calls.clear();
  at("calls handed out");
}

}  // namespace smartmig
