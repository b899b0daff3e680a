#include "sim/engine.h"

#include <algorithm>
#include <functional>

namespace smartmig {
namespace {

constexpr std::size_t kStaleEndings = 64;  // That may be there, and more while many jobs run.

State::Options state_options(const Policy& policy, const EngineOptions& options) {
  State::Options state;
  state.costs = options.costs;
  state.preemption = options.preemption;
  if (policy.placer) {
    state.job_order = policy.placer->job_order();
    state.gpu_order = policy.placer->gpu_order();
  }
  state.estimate_sigma = options.estimate_sigma;
  state.seed = options.seed;
  state.attribute_energy = options.records;
  state.aggregates = options.aggregates || policy.partitioner->wants_aggregates() ||
                     (policy.placer && policy.placer->wants_aggregates());
  state.tardiness = options.tardiness;
  state.correct_beliefs = policy.partitioner->corrects_beliefs();
  return state;
}

}  // namespace

Engine::Engine(const Fleet& fleet, const JobTable& jobs, const Policy& policy,
               const EngineOptions& options)
    : fleet_(&fleet),
      jobs_(&jobs),
      policy_(policy),
      state_(fleet, jobs.jobs, state_options(policy, options)),
      gpu_events_(options.events),
      finish_us_(jobs.jobs.size(), -1),
      first_start_us_(options.start_times ? jobs.jobs.size() : 0, -1),
      scans_(options.preemption == Preemption::kFree) {
  // Room for what small fleets ever need; on larger ones these grow a few times more.
  const auto slices = std::min<std::size_t>(static_cast<std::size_t>(fleet.compute_slices()), 512);
  endings_.reserve(kStaleEndings + 5 * slices);  // forget_stale() keeps it within that.
  const auto gpus = std::min<std::size_t>(fleet.gpu_count(), 512);
  dirty_.reserve(2 * gpus);
  repartitioned_.reserve(gpus);
  started_.reserve(slices);
  room_.decision.stops.reserve(slices);
  room_.decision.starts.reserve(slices);
  room_.decision.repartitions.reserve(slices);
  if (options.hourly_energy) hourly_.emplace();
  if (options.layout_times) layout_times_.emplace(fleet);
  begin();
  if (options.records) records_.emplace(state_, jobs.jobs.size(), options.stays);
}

void Engine::begin() {
  SM_CHECK(!jobs_->jobs.empty());
  begin_us_ = jobs_->begin_us();
  state_.set_now(begin_us_);
  state_.power().begin(begin_us_, jobs_->trace.has_value());
  if (hourly_) hourly_->begin(begin_us_);
  first_layouts_.clear();
  policy_.partitioner->first_layouts(view(), first_layouts_);
  SM_CHECK(first_layouts_.size() == fleet_->gpu_count());
  for (GpuIndex gpu = 0; gpu < fleet_->gpu_count(); ++gpu)
    state_.place_initial(gpu, first_layouts_[gpu]);
  if (layout_times_) {
    layout_times_.emplace(*fleet_);
    for (GpuIndex gpu = 0; gpu < fleet_->gpu_count(); ++gpu)
      layout_times_->change(begin_us_, gpu, first_layouts_[gpu]);
  }
  next_timer_ = policy_.partitioner->next_timer(begin_us_);
}

void Engine::restart(const JobTable& jobs, std::uint64_t seed) {
  forget(jobs, seed);
  begin();
}

void Engine::restart(const JobTable& jobs, std::uint64_t seed, const Standing& standing) {
  SM_CHECK(!layout_times_ && !hourly_);
  forget(jobs, seed);
  begin(standing);
}

void Engine::forget(const JobTable& jobs, std::uint64_t seed) {
  SM_CHECK(!records_);
  jobs_ = &jobs;
  state_.restart(jobs.jobs, seed);
  finish_us_.assign(jobs.jobs.size(), -1);
  if (!first_start_us_.empty()) first_start_us_.assign(jobs.jobs.size(), -1);
  endings_.clear();
  dirty_.clear();
  next_arrival_ = next_gpu_event_ = completed_ = 0;
  last_completion_us_ = 0;
  repartitions_ = 0;
  idle_timers_ = 0;
  call_partitioner_ = ended_ = false;
  first_ends_us_ = kNever;
  policy_.reseed(seed);
}

void Engine::begin(const Standing& standing) {
  SM_CHECK(!jobs_->jobs.empty() && standing.gpus.size() == fleet_->gpu_count());
  begin_us_ = standing.now_us;
  state_.set_now(begin_us_);
  state_.power().begin(begin_us_);
  for (GpuIndex gpu = 0; gpu < fleet_->gpu_count(); ++gpu)
    state_.place_initial(gpu, standing.gpus[gpu].present);
  next_arrival_ = standing.left.size();
  for (JobIndex job = 0; job < next_arrival_; ++job) {
    state_.arrive(job);
    if (standing.left[job] != 1) state_.set_left(job, standing.left[job]);
  }
  for (const Standing::Run& run : standing.runs) resume_run(run);
  for (GpuIndex gpu = 0; gpu < fleet_->gpu_count(); ++gpu) {
    const Standing::Gpu& there = standing.gpus[gpu];
    if (there.target != there.present) state_.set_target(gpu, there.target);
    if (there.operation_end_us != kNever) {
      state_.resume_operation(gpu, there.operation_slot, there.creates, there.operation_end_us);
      push(there.operation_end_us, gpu, true);
    }
    if (!there.up) {
      // Nothing is left on a board that failed; a live one that is closed may have jobs.
      there.present == 0 ? state_.fail(gpu) : state_.close(gpu);
    }
    dirty_.push_back(gpu);
  }
  for (const State::Awaiting& wait : standing.waits)
    state_.wait_for({wait.job,
                     fleet_->slice_at(wait.gpu, fleet_->board(wait.gpu).slots[wait.slot].start),
                     wait.slot});
  policy_.partitioner->take_over(view());
  next_timer_ = begin_us_;
}

void Engine::resume_run(const Standing::Run& run) {
  const SliceId slice = fleet_->slice_at(run.gpu, fleet_->board(run.gpu).slots[run.slot].start);
  state_.start({run.job, slice, run.slot});
  state_.revise_run(slice, std::min(run.begin_us, run.end_us - 1), run.end_us);
  if (run.saves) {
    SM_CHECK(state_.stop(run.job) != kNever);
    state_.revise_run(slice, std::min(run.begin_us, run.end_us - 1), run.end_us);
  }
  push(run.end_us, slice, false);
}

void Engine::push(TimeUs at_us, std::uint32_t id, bool operation) {
  if (scans_ && !operation) return;
  endings_.push_back({at_us, id, operation});
  std::push_heap(endings_.begin(), endings_.end(), std::greater<>());
}

void Engine::pop() {
  std::pop_heap(endings_.begin(), endings_.end(), std::greater<>());
  endings_.pop_back();
}

bool Engine::still_true(const Ending& ending) const {
  if (ending.operation) return state_.gpu(ending.id).operation_end_us == ending.at_us;
  const SliceState& slice = state_.slice(ending.id);
  return slice.job != kNone && slice.end_us == ending.at_us;
}

// Keeps the heap within a small multiple of what is true, so that free preemption cannot make it
// grow.
void Engine::forget_stale() {
  if (endings_.size() < kStaleEndings + 4 * state_.running().size()) return;
  std::erase_if(endings_, [this](const Ending& ending) { return !still_true(ending); });
  std::make_heap(endings_.begin(), endings_.end(), std::greater<>());
}

TimeUs Engine::next_time() {
  while (!endings_.empty() && !still_true(endings_.front())) pop();
  TimeUs next = endings_.empty() ? kNever : endings_.front().at_us;
  if (scans_) {
    first_ends_us_ = kNever;
    for (const SliceId slice : state_.running())
      first_ends_us_ = std::min(first_ends_us_, state_.slice(slice).end_us);
    next = std::min(next, first_ends_us_);
  }
  if (next_arrival_ < jobs_->jobs.size())
    next = std::min(next, jobs_->jobs[next_arrival_].submit_us);
  if (next_gpu_event_ < gpu_events_.size())
    next = std::min(next, gpu_events_[next_gpu_event_].at_us);
  if (next == kNever && next_timer_ != kNever) {
    // Only timers are left: a new layout may still let the waiting jobs run, but not for ever.
    constexpr int kPatience = 4;
    if (++idle_timers_ > kPatience) return kNever;
    return next_timer_;
  }
  idle_timers_ = 0;
  return std::min(next, next_timer_);
}

bool Engine::step() {
  if (!advance()) return false;
  instant().decide(call_partitioner_);
  end_instant();
  return true;
}

bool Engine::advance() {
  if (completed_ == jobs_->jobs.size()) {
    end_run();
    return false;
  }
  TimeUs now = next_time();
  if (now == kNever) return false;
  now = std::max(now,
                 begin_us_);  // What happens to GPUs before the first job is there from the start.
  pass_time(now);
  call_partitioner_ = false;
  process_endings(now);
  process_gpu_events(now);
  process_arrivals(now);
  if (next_timer_ <= now) {
    call_partitioner_ = true;
    next_timer_ = policy_.partitioner->next_timer(now);
  }
  repartitioned_.clear();
  started_.clear();
  return true;
}

void Engine::pass_time(TimeUs now) {
  if (records_) records_->pass_time(state_, now);
  if (hourly_) hourly_->pass_time(state_.power(), now);
  state_.set_now(now);
}

void Engine::complete(SliceId slice, TimeUs now) {
  finish_us_[state_.slice(slice).job] = last_completion_us_ = now;
  state_.complete(slice);
  ++completed_;
  call_partitioner_ = true;
  const GpuIndex gpu = fleet_->gpu_of(slice);
  if (state_.gpu(gpu).present != state_.gpu(gpu).target) dirty_.push_back(gpu);
  touch(gpu);
}

void Engine::process_endings(TimeUs now) {
  deferred_saves_.clear();
  deferred_operations_.clear();
  if (scans_ && first_ends_us_ == now) {
    // Backwards: completing takes the last one's place.
    for (std::size_t i = state_.running().size(); i-- > 0;) {
      const SliceId slice = state_.running()[i];
      if (state_.slice(slice).end_us == now) complete(slice, now);
    }
  }
  while (!endings_.empty() && endings_.front().at_us == now) {
    const Ending ending = endings_.front();
    pop();
    if (!still_true(ending)) continue;
    if (ending.operation) {
      deferred_operations_.push_back(ending.id);
    } else if (state_.job_state(state_.slice(ending.id).job).status == JobStatus::kSaving) {
      deferred_saves_.push_back(ending.id);
    } else {
      complete(ending.id, now);
    }
  }
  for (const GpuIndex gpu : deferred_operations_) {
    if (state_.gpu(gpu).operation_end_us != now) continue;  // Listed twice.
    state_.end_operation(gpu);
    if (policy_.partitioner->follows_operations()) call_partitioner_ = true;
    dirty_.push_back(gpu);
    touch(gpu);
  }
  for (const SliceId slice : deferred_saves_) {
    if (state_.slice(slice).job == kNone) continue;  // Listed twice.
    state_.end_save(slice);
    if (policy_.partitioner->stops_jobs()) call_partitioner_ = true;
    dirty_.push_back(fleet_->gpu_of(slice));
    touch(fleet_->gpu_of(slice));
  }
}

void Engine::process_gpu_events(TimeUs now) {
  for (; next_gpu_event_ < gpu_events_.size() && gpu_events_[next_gpu_event_].at_us <= now;
       ++next_gpu_event_) {
    const GpuEvent& event = gpu_events_[next_gpu_event_];
    if (state_.gpu(event.gpu).up != event.fail) continue;  // It is as the event would have it.
    event.fail ? state_.fail(event.gpu) : state_.bring_back(event.gpu);
    call_partitioner_ = true;
    dirty_.push_back(event.gpu);
    touch(event.gpu);
  }
}

void Engine::process_arrivals(TimeUs now) {
  for (; next_arrival_ < jobs_->jobs.size() && jobs_->jobs[next_arrival_].submit_us == now;
       ++next_arrival_) {
    state_.arrive(static_cast<JobIndex>(next_arrival_));
    call_partitioner_ = true;
  }
}

void Engine::ask_partitioner() {
  View seen = view();
  if (seen.everything_ready()) state_.drop_all_awaiting();
  decide_layouts(policy_, seen, room_.decision);
  saved_at_once_ = false;
  carry_out(room_.decision);
  next_timer_ = policy_.partitioner->next_timer(state_.now());
  // There will be no end of a save to call it at.
  if (saved_at_once_) next_timer_ = std::min(next_timer_, state_.now() + 1);
}

void Engine::partition() {
  if (call_partitioner_) ask_partitioner();
  instant().settle_layouts();
}

void Engine::partition(const Decision& layouts) {
  if (call_partitioner_ && state_.preemption() == Preemption::kFree) state_.drop_all_awaiting();
  carry_out(layouts);
  instant().settle_layouts();
}

void Engine::place() {
  instant().place();
  end_instant();
}

void Engine::place(std::span<const Start> starts) {
  Decision& decision = room_.decision;
  decision.clear();
  decision.starts.assign(starts.begin(), starts.end());
  View seen = view();
  finish_placement(seen, decision);
  carry_out(decision);
  end_instant();
}

void Engine::end_instant() {
  charge_layout_changes();
  if (records_) {
    records_->observe(state_, touched_);
    touched_.clear();
  }
  forget_stale();
}

void Engine::note_first_start(JobIndex job) {
  if (first_start_us_[job] < 0) first_start_us_[job] = state_.now();
}

void Engine::note_start(JobIndex job) {
  started_.push_back(job);
  if (!first_start_us_.empty()) note_first_start(job);
  if (records_) records_->job_started(state_, job);
}

void Engine::carry_out(const Decision& decision) {
  for (const JobIndex job : decision.stops) {
    const SliceId slice = state_.job_state(job).slice;
    const TimeUs end = state_.stop(job);
    if (end != kNever) push(end, slice, false);
    saved_at_once_ = saved_at_once_ || end == kNever;
    touch(fleet_->gpu_of(slice));
  }
  for (const Repartition& repartition : decision.repartitions) {
    state_.set_target(repartition.gpu, repartition.target);
    if (layout_times_) layout_times_->change(state_.now(), repartition.gpu, repartition.target);
    ++repartitions_;
    repartitioned_.push_back(repartition.gpu);
    dirty_.push_back(repartition.gpu);
    touch(repartition.gpu);
  }
  if (!decision.repartitions.empty()) settle();
  if (decision.whole) {
    assign_whole(decision.starts);
    return;
  }
  for (const Start& start : decision.starts) {
    const TimeUs end = state_.start(start);
    touch(fleet_->gpu_of(start.slice));
    if (end == kNever) continue;
    push(end, start.slice, false);
    note_start(start.job);
  }
}

void Engine::assign_whole(std::span<const Start> starts) {
  if (records_) {
    for (const SliceId slice : state_.running()) touch(fleet_->gpu_of(slice));
    for (const Start& start : starts) touch(fleet_->gpu_of(start.slice));
  }
  const std::size_t before = started_.size();
  state_.assign_whole(starts, started_);
  for (std::size_t i = before; i < started_.size() && !first_start_us_.empty(); ++i)
    note_first_start(started_[i]);
  if (!records_) return;
  for (std::size_t i = before; i < started_.size(); ++i) records_->job_started(state_, started_[i]);
}

// Starts what operations can start on the GPUs that changed, and the jobs that waited for what is
// there now.
void Engine::settle() {
  for (const GpuIndex gpu : dirty_) {
    const TimeUs end = state_.advance(gpu);
    if (end != kNever) push(end, gpu, true);
    while (const auto start = state_.next_awaiting(gpu)) {
      push(state_.start(*start), start->slice, false);
      note_start(start->job);
    }
    touch(gpu);
  }
  dirty_.clear();
}

// The papers' way to charge a repartition: off the deadlines of the jobs placed on the GPU as it
// changes.
void Engine::charge_layout_changes() {
  const TimeUs cut = state_.costs().deadline_cut_us;
  if (cut == 0) return;
  for (const GpuIndex gpu : repartitioned_) {
    if (state_.preemption() == Preemption::kFree) {
      const SliceId first = fleet_->slice_at(gpu, 0);
      for (SliceId slice = first; slice < first + fleet_->stride(); ++slice) {
        if (state_.slice(slice).job != kNone) state_.cut_deadline(state_.slice(slice).job, cut);
      }
    } else {
      for (const JobIndex job : started_) {
        if (state_.job_state(job).status != JobStatus::kRunning)
          continue;  // Displaced again at once.
        if (fleet_->gpu_of(state_.job_state(job).slice) == gpu) state_.cut_deadline(job, cut);
      }
    }
  }
}

TimeUs Engine::charged_end_us() const {
  if (!jobs_->trace) return last_completion_us_;
  return std::max(last_completion_us_, jobs_->trace->last_submit_us);
}

// What boards drew that a trace does not charge: each one after the last submit and its own last
// job.
std::vector<IdlePiece> Engine::uncharged() const {
  if (!jobs_->trace) return {};
  return state_.power().idle_tails(jobs_->trace->last_submit_us, charged_end_us());
}

double Engine::energy_j() const {
  double joules = state_.power().energy_j(charged_end_us());
  for (const IdlePiece& piece : uncharged())
    joules -= piece.watts * to_s(piece.end_us - piece.begin_us);
  return joules;
}

// All jobs are done. The run of a trace lasts until its last submit if that is later, which happens
// because jobs that fit no slice were left out; boards may fail and return until then. What is not
// charged is then taken out of the records.
void Engine::end_run() {
  if (ended_) return;
  ended_ = true;
  const TimeUs end = charged_end_us();
  while (next_gpu_event_ < gpu_events_.size() && gpu_events_[next_gpu_event_].at_us <= end) {
    const TimeUs now = gpu_events_[next_gpu_event_].at_us;
    pass_time(now);
    process_gpu_events(now);
    if (records_) records_->observe(state_, touched_);
    touched_.clear();
  }
  pass_time(end);
  if (records_) records_->leave_out(uncharged());
}

ByHour Engine::energy_by_hour_j() const {
  SM_CHECK(hourly_.has_value());
  ByHour joules = hourly_->joules(state_.power(), charged_end_us());
  for (const IdlePiece& piece : uncharged())
    subtract_by_hour(joules, piece.begin_us, piece.end_us, piece.watts);
  return joules;
}

Result<void> Engine::run() {
  while (step()) {
  }
  const std::size_t jobs = jobs_->jobs.size();
  if (completed_ == jobs) return {};
  for (JobIndex job = 0; job < jobs; ++job) {
    if (finish_us_[job] >= 0) continue;
    return fail(
        "{} of {} jobs never ran, the first is job {}: no slice that policy {} makes on this fleet "
        "has the memory and a "
        "time for it, or the GPU it needs did not return",
        jobs - completed_, jobs, jobs_->id(job), policy_.name);
  }
  return {};
}

}  // namespace smartmig
