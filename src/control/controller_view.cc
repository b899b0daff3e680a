// What can be seen of the controller.
#include <algorithm>
#include <bit>
#include <queue>

#include "control/controller_impl.h"
#include "control/reasons.h"

namespace smartmig {
namespace {

// A picture of a large fleet is redrawn at this interval while a client looks, less often while
// something happens, and is good for a little longer; small ones are drawn whenever they are asked
// for.
constexpr std::size_t kSmallFleet = 256;
constexpr std::int64_t kDrawEveryNs = 250'000'000;
constexpr std::int64_t kDrawUnaskedEveryNs = 1'500'000'000;
constexpr std::int64_t kPictureLastsNs = 2'000'000'000;
constexpr std::int64_t kClientLooksNs = 2'000'000'000;
constexpr std::int64_t kRehearsalsApart = 20;  // Times what one takes.
// The loop comes round every second where nothing happens; one that has not for so long is stuck.
constexpr std::int64_t kAliveNs = 30'000'000'000;

}  // namespace

std::string_view Controller::Impl::gpu_state(GpuIndex index) const {
  const GpuBook& gpu = gpus[index];
  if (gpu.lost) return "lost";
  if (!gpu.row.fence.empty() || !gpu.undo_reason.empty()) return "fenced";
  if (gpu.row.draining) return "draining";
  if (gpu.row.cordoned) return "cordoned";
  return "up";
}

GpuView Controller::Impl::look_at(GpuIndex index) const {
  const GpuBook& book = gpus[index];
  const State& state = model->state();
  const GpuState& gpu = state.gpu(index);
  const Board& board = model->fleet().board(index);
  GpuView view;
  view.index = index;
  view.uuid = book.row.uuid;
  view.board = board.name;
  view.memory_slices = board.memory_slices;
  view.layout = layout_name(board, gpu.present);
  view.target = layout_name(board, gpu.target);
  view.state = gpu_state(index);
  view.trouble = book.row.fence.empty() ? book.undo_reason : book.row.fence;
  view.retry_us = book.row.retry_us;
  view.held = book.hold.has_value();
  if (book.hold) {
    view.held_by = book.hold->who;
    view.held_us = book.hold->at_us;
  }
  view.power_w = state.power().watts_at(index, model->now());
  view.changes = book.changes;
  for (SlotSet rest = gpu.present; rest; rest &= rest - 1) {
    const int slot = std::countr_zero(rest);
    const Slot& place = board.slots[static_cast<std::size_t>(slot)];
    const Profile& profile = board.profiles[place.profile];
    const SliceState& there = state.slice(model->fleet().slice_at(index, place.start));
    SliceView slice;
    if (const auto known = book.slices.find(static_cast<std::uint8_t>(slot));
        known != book.slices.end())
      slice.uuid = known->second;
    slice.profile = profile.name;
    slice.slot = static_cast<std::uint8_t>(slot);
    slice.start = place.start;
    slice.width = place.width;
    slice.compute = static_cast<std::uint8_t>(profile.compute_slices);
    if (there.phase == SlicePhase::kCreating) slice.state = "creating";
    if (there.phase == SlicePhase::kDestroying) slice.state = "destroying";
    if (model->foreign(index) >> slot & 1) slice.state = "foreign";
    if (there.phase == SlicePhase::kReady && there.job != kNone &&
        model->number_of(there.job) != 0) {
      slice.job = model->number_of(there.job);
      const auto job = jobs.find(slice.job);
      if (job != jobs.end()) {
        slice.since_us = job->second.row.begin_us;
        if (job->second.will_not_stop) slice.state = "fenced";
      }
      slice.expected_end_us = there.end_us;
      slice.job_kind = state.job(there.job).kind == JobKind::kTraining ? "training" : "inference";
      slice.deadline_us = state.job_state(there.job).deadline_us;
    }
    view.slices.push_back(std::move(slice));
  }
  std::sort(view.slices.begin(), view.slices.end(),
            [](const SliceView& a, const SliceView& b) { return a.start < b.start; });
  return view;
}

void Controller::Impl::summarise(FleetSummary& view) const {
  view.now_us = clock_us();
  view.fleet = options.setup.fleet;
  view.policy = options.setup.policy;
  view.driver = options.driver;
  view.speed = fleet.clock.speed;
  view.frozen = model->frozen();
  view.recovered = recovered;
  view.events_received = why_deaf().empty();
  view.trouble = current_trouble();
  view.power_w = model->power_w();
  view.power_cap_w = model->limits().power_cap_w;
  view.energy_j = energy_j(view.now_us);
  view.queued = view.running = view.late_queued = 0;
  for (const auto& [number, book] : jobs) {
    const bool queued = book.row.phase == JobPhase::kQueued;
    view.queued += queued;
    view.running += !queued;
    view.late_queued += queued && book.row.deadline_us < view.now_us;
  }
  view.modelled = modelled(view.now_us);
}

double Controller::Impl::energy_j(TimeUs now) const {
  return earlier_energy_j + model->state().power().energy_j(std::max(now, model->now()));
}

// The modelled policy's sums beside this fleet's own.
std::optional<ModelledView> Controller::Impl::modelled(TimeUs now) const {
  if (!counterfactual) return std::nullopt;
  const auto other = counterfactual->totals(now);
  if (!other) return std::nullopt;
  const std::lock_guard lock(seen_mutex);
  return ModelledView{counterfactual->policy(),
                      other->energy_j,
                      energy_j(now),
                      other->done,
                      counted.done,
                      other->late,
                      counted.late,
                      other->tardiness_s,
                      counted.tardiness_s,
                      days ? days->last_day() : std::nullopt};
}

// Every quarter of an hour. Tells subscribers when the alarm begins or ends.
void Controller::Impl::compare_days(TimeUs now) {
  if (!days || !days->wants(now)) return;
  const auto is_better = [this] { return days->last_day() && days->last_day()->other_is_better; };
  const bool was_better = is_better();
  if (const auto sums = modelled(now)) {
    days->take(now, {sums->own_energy_j, sums->own_done, sums->own_tardiness_s},
               {sums->energy_j, sums->done, sums->tardiness_s});
  } else {
    days->clear();  // The model fell too far behind and was given up: no alarm stays.
  }
  if (is_better() == was_better) return;
  forget_picture();
  notice("fleet", is_better() ? R"({"alarm":"modelled policy better"})"
                              : R"({"alarm":"modelled policy no longer better"})");
}

std::shared_ptr<const FleetView> Controller::Impl::draw_picture() {
  auto view = std::make_shared<FleetView>();
  summarise(*view);
  view->gpus.reserve(gpus.size());
  for (GpuIndex gpu = 0; gpu < gpus.size(); ++gpu) view->gpus.push_back(look_at(gpu));
  if (gpus.size() > kSmallFleet) {
    const std::lock_guard lock(seen_mutex);
    picture = view;
    picture_ns = monotonic_ns();
    picture_event = next_event;
  }
  return view;
}

// Ahead of those who look, between two rounds.
void Controller::Impl::refresh_picture() {
  if (gpus.size() <= kSmallFleet) return;
  {
    const std::int64_t now_ns = monotonic_ns();
    const std::lock_guard lock(seen_mutex);
    const bool somebody_looks = now_ns - looked_ns <= kClientLooksNs;
    if (!somebody_looks && picture_event == next_event) return;
    const std::int64_t every_ns = somebody_looks ? kDrawEveryNs : kDrawUnaskedEveryNs;
    if (picture && now_ns - picture_ns < every_ns) return;
  }
  draw_picture();
}

void Controller::Impl::forget_picture() {
  const std::lock_guard lock(seen_mutex);
  picture.reset();
}

std::shared_ptr<const FleetView> Controller::Impl::recent_picture() {
  const std::int64_t now_ns = monotonic_ns();
  const std::lock_guard lock(seen_mutex);
  looked_ns = now_ns;
  return now_ns - picture_ns < kPictureLastsNs ? picture : nullptr;
}

std::shared_ptr<const FleetView> Controller::look() const {
  if (auto recent = impl_->recent_picture()) return recent;
  return impl_->ask<std::shared_ptr<const FleetView>>([this] {
    // Others may have waited too.
    auto recent = impl_->recent_picture();
    return recent ? recent : impl_->draw_picture();
  });
}

FleetSummary Controller::summary() const {
  if (const auto recent = impl_->recent_picture()) return *recent;
  return impl_->ask<FleetSummary>([this] {
    FleetSummary view;
    impl_->summarise(view);
    return view;
  });
}

std::optional<GpuView> Controller::gpu(const std::string& id) const {
  return impl_->ask<std::optional<GpuView>>([this, id]() -> std::optional<GpuView> {
    const auto gpu = impl_->find_gpu(id);
    if (!gpu) return std::nullopt;
    return impl_->look_at(*gpu);
  });
}

bool Controller::alive() const { return monotonic_ns() - impl_->alive_ns < kAliveNs; }

std::string Controller::why_not_ready() const {
  if (!impl_->recovered)
    return "the journal was damaged, lost or went back in time: an operator must run recover";
  if (impl_->refuses_submissions) return "the journal cannot be written";
  if (!alive()) return "the controller does not decide";
  return impl_->why_deaf().empty() ? "" : "the fleet's events are not received";
}

Answer<Plan> Controller::plan(const std::string& policy) {
  const std::lock_guard lock(impl_->rehearsal_mutex);
  // The copy is made by the loop's thread, the decision here.
  auto copy =
      impl_->ask<std::shared_ptr<Model>>([this] { return std::make_shared<Model>(*impl_->model); });
  if (!policy.empty()) {
    if (auto switched = copy->switch_policy(policy); !switched)
      return tl::unexpected(Refusal{400, switched.error().message, "policy"});
  }
  Event event;
  event.kind = Event::Kind::kUnfreeze;
  event.at_us = impl_->clock_us();
  copy->apply(event);
  const Round& round = copy->round(event.at_us);
  return describe(round, *copy, impl_->gpu_names());
}

// Kept for a while where it was dear: many ask at once.
std::vector<Controller::Expectation> Controller::expectations(std::size_t most) const {
  const std::lock_guard lock(impl_->rehearsal_mutex);
  const std::int64_t begin_ns = monotonic_ns();
  if (begin_ns < impl_->expected_until_ns && impl_->expected_most == most) return impl_->expected;
  impl_->expected = impl_->expect(most);
  impl_->expected_most = most;
  const std::int64_t now_ns = monotonic_ns();
  impl_->expected_until_ns = now_ns + kRehearsalsApart * (now_ns - begin_ns);
  return impl_->expected;
}

std::vector<Controller::Expectation> Controller::Impl::expect(std::size_t most) {
  auto copy =
      ask<std::shared_ptr<const Model>>([this] { return std::make_shared<const Model>(*model); });
  const State& state = copy->state();
  // Jobs in the order of their deadlines, each on the slice that is free first of those that it
  // runs on, with layouts as they are.
  // When slices are free, by kind.
  std::vector<std::priority_queue<TimeUs, std::vector<TimeUs>, std::greater<>>> free(
      copy->fleet().kinds().size());
  for (SliceId id = 0; id < copy->fleet().slice_count(); ++id) {
    const SliceState& slice = state.slice(id);
    if (slice.phase != SlicePhase::kReady || !state.gpu(copy->fleet().gpu_of(id)).up) continue;
    free[slice.kind].push(slice.job == kNone ? state.now() : slice.end_us);
  }
  std::vector<std::pair<TimeUs, JobIndex>> queue;
  for (const State::Group& group : state.groups()) {
    for (auto at = group.queue.begin(); !group.queue.at_end(at); group.queue.advance(at)) {
      const JobIndex job = group.queue.at(at).job;
      queue.emplace_back(state.job_state(job).deadline_us, job);
    }
  }
  std::sort(queue.begin(), queue.end());
  if (queue.size() > most) queue.resize(most);
  std::vector<Expectation> found;
  for (const auto& [deadline_us, job] : queue) {
    int first = -1;  // Of the kinds it runs on, the one that is free first.
    for (KindSet rest = state.groups()[state.job_state(job).group].kinds; rest; rest &= rest - 1) {
      const int kind = std::countr_zero(rest);
      if (!free[kind].empty() && (first < 0 || free[kind].top() < free[first].top())) first = kind;
    }
    if (first < 0) continue;
    Expectation expectation;
    expectation.job = copy->number_of(job);
    expectation.start_us = std::max(free[first].top(), state.now());
    const Seen seen(state, job);
    expectation.end_us = expectation.start_us + seen.delay_us() + seen.remaining_us(first);
    expectation.late_us = std::max<TimeUs>(0, expectation.end_us - deadline_us);
    free[first].pop();
    free[first].push(expectation.end_us);
    found.push_back(expectation);
  }
  return found;
}

Answer<std::vector<std::string>> Controller::explain_job(JobNumber job) {
  return impl_->ask<Answer<std::vector<std::string>>>(
      [this, job]() -> Answer<std::vector<std::string>> {
        const auto found = impl_->jobs.find(job);
        if (found == impl_->jobs.end())
          return tl::unexpected(Refusal{404, fmt::format("job {} is not in the system", job), ""});
        const JobRow& row = found->second.row;
        std::vector<std::string> lines;
        const auto index = impl_->model->index_of(job);
        if (row.phase == JobPhase::kQueued) {
          lines = why_it_waits(*impl_->model, *index);
        } else {
          const auto reason = impl_->start_reasons.find(job);
          lines.push_back(
              fmt::format("it is {} on {} of {}", to_string(row.phase), row.slice, row.gpu));
          if (reason != impl_->start_reasons.end()) lines.push_back(reason->second);
        }
        if (!row.note.empty()) lines.push_back(row.note);
        return lines;
      });
}

Answer<std::vector<std::string>> Controller::explain_gpu(const std::string& id) {
  return impl_->ask<Answer<std::vector<std::string>>>([this,
                                                       id]() -> Answer<std::vector<std::string>> {
    const auto gpu = impl_->find_gpu(id);
    if (!gpu) return tl::unexpected(gpu.error());
    const GpuView view = impl_->look_at(*gpu);
    std::vector<std::string> lines;
    lines.push_back(fmt::format("{} is {}, cut into {}", view.uuid, view.state, view.layout));
    if (view.target != view.layout)
      lines.push_back(fmt::format("it is on its way to {}", view.target));
    if (!view.trouble.empty()) lines.push_back(view.trouble);
    if (view.retry_us >= 0)
      lines.push_back(
          fmt::format("it is tried again in {}",
                      in_words(std::max<TimeUs>(0, view.retry_us - impl_->clock_us()))));
    if (view.held)
      lines.push_back(fmt::format(
          "{} has held its layout for {}: the policy places jobs on its slices and does not change "
          "its layout until `smartmig unhold {}`",
          view.held_by, in_words(std::max<TimeUs>(0, impl_->clock_us() - view.held_us)),
          view.index));
    if (const std::string by = impl_->changed_by(*gpu); !by.empty()) {
      const auto reason = impl_->change_reasons.find(*gpu);
      const bool known = reason != impl_->change_reasons.end() &&
                         impl_->gpus[*gpu].last_change.by == LayoutChange::By::kPolicy;
      lines.push_back(
          fmt::format("its last change was made by {}{}", by, known ? ": " + reason->second : ""));
    }
    return lines;
  });
}

}  // namespace smartmig
