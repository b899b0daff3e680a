// Layouts by hand: set, hold, release and undo. Who changed a GPU's layout last and who holds it
// are settings of the journal, "change UUID" and "hold UUID", so that they outlive the controller.
#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>

#include "base/json_fields.h"
#include "base/text.h"
#include "control/controller_impl.h"
#include "control/reasons.h"

namespace smartmig {
namespace {

using nlohmann::json;

constexpr std::size_t kMostJobsNamed = 5;

std::string hold_setting(const std::string& uuid) { return "hold " + uuid; }
std::string change_setting(const std::string& uuid) { return "change " + uuid; }

std::string to_text(const LayoutHold& hold) {
  return json{{"who", hold.who}, {"at_us", hold.at_us}, {"slots", hold.slots}}.dump();
}
std::string to_text(const LayoutChange& change) {
  return json{{"by", change.by == LayoutChange::By::kPolicy ? "policy" : "operator"},
              {"who", change.who},
              {"at_us", change.at_us},
              {"number", change.number}}
      .dump();
}

std::optional<LayoutHold> parse_hold(const std::string& text) {
  const json body = parse_json(text);
  if (!body.is_object()) return std::nullopt;
  return LayoutHold{body.value("who", ""), body.value("at_us", TimeUs{0}),
                    body.value("slots", SlotSet{0})};
}
LayoutChange parse_change(const std::string& text) {
  const json body = parse_json(text);
  if (!body.is_object()) return {};
  return {
      body.value("by", "") == "policy" ? LayoutChange::By::kPolicy : LayoutChange::By::kOperator,
      body.value("who", ""), body.value("at_us", TimeUs{0}), body.value("number", std::int64_t{0})};
}

}  // namespace

// --- what is remembered

void Controller::Impl::read_layout_notes(GpuIndex index) {
  GpuBook& gpu = gpus[index];
  gpu.hold = parse_hold(journal->setting(hold_setting(gpu.row.uuid)));
  gpu.last_change = parse_change(journal->setting(change_setting(gpu.row.uuid)));
}

void Controller::Impl::note_change(GpuIndex index, SlotSet from, LayoutChange change) {
  GpuBook& gpu = gpus[index];
  ++gpu.changes;
  gpu.row.last_good = from;
  gpu.last_change = std::move(change);
  rows.emplace_back(gpu.row);
  put_setting(change_setting(gpu.row.uuid), to_text(gpu.last_change));
}

// "the policy smartmig 20 s ago", "alice by hand 3 min ago"; empty: the layout was never changed.
std::string Controller::Impl::changed_by(GpuIndex index) const {
  const LayoutChange& change = gpus[index].last_change;
  if (change.by == LayoutChange::By::kUnchanged) return {};
  const std::string ago = in_words(std::max<TimeUs>(0, clock_us() - change.at_us)) + " ago";
  return change.by == LayoutChange::By::kPolicy ? fmt::format("the policy {} {}", change.who, ago)
                                                : fmt::format("{} by hand {}", change.who, ago);
}

// The GPUs of the latest change, whether a decision or a command made it.
std::vector<GpuIndex> Controller::Impl::latest_changed() const {
  std::int64_t latest = 1;
  for (const GpuBook& gpu : gpus) latest = std::max(latest, gpu.last_change.number);
  std::vector<GpuIndex> found;
  for (GpuIndex i = 0; i < gpus.size(); ++i) {
    if (gpus[i].last_change.number == latest) found.push_back(i);
  }
  return found;
}

// --- setting layouts

// The placements that the order comes to, or why it cannot be carried out.
Answer<SlotSet> Controller::Impl::check_layout(const LayoutOrder& order) const {
  const GpuState& state = model->state().gpu(order.gpu);
  const SlotSet pinned = model->state().slots_in_use(order.gpu) | model->foreign(order.gpu);
  const SlotSet target =
      closest_placement(model->fleet().board(order.gpu), state.target, pinned, order.wanted);
  const std::string& name = fleet.gpus[order.gpu];
  if ((model->foreign(order.gpu) & ~target) != 0)
    return tl::unexpected(Refusal{
        409, fmt::format("{} has slices that smartmig did not make: adopt them first", name),
        "gpu"});
  if (!state.up)
    return tl::unexpected(
        Refusal{409, fmt::format("{} is {}: its layout is not changed", name, gpu_state(order.gpu)),
                "gpu"});
  return target;
}

// Which jobs must end before the slices that go can be removed.
void Controller::Impl::say_waits(GpuIndex index, SlotSet target,
                                 std::vector<std::string>& lines) const {
  const State& state = model->state();
  std::vector<std::string> jobs_named;
  std::size_t count = 0;
  for (SlotSet rest = state.gpu(index).present & ~target; rest; rest &= rest - 1) {
    const int slot = std::countr_zero(rest);
    const JobNumber job = job_at(index, slot);
    if (job == 0) continue;
    if (++count > kMostJobsNamed) continue;
    const auto known = model->index_of(job);
    const SliceId slice = known ? state.job_state(*known).slice : kNone;
    const TimeUs left_us = slice == kNone ? 0 : state.slice(slice).end_us - clock_us();
    jobs_named.push_back(fmt::format("job {} on {} (about {})", job, slice_name(index, slot),
                                     in_words(std::max<TimeUs>(0, left_us))));
  }
  if (count == 0) return;
  lines.push_back(fmt::format(
      "the change waits for {}{} to end, because {} on slices that go", join(jobs_named, ", "),
      count > kMostJobsNamed ? fmt::format(" and {} more", count - kMostJobsNamed) : "",
      count == 1 ? "it runs" : "they run"));
}

void Controller::Impl::say_layout(const LayoutOrder& order, SlotSet target,
                                  std::vector<std::string>& lines) const {
  const Board& board = model->fleet().board(order.gpu);
  const SlotSet now = model->state().gpu(order.gpu).target;
  const std::string& name = fleet.gpus[order.gpu];
  if (target == now) {
    lines.push_back(fmt::format("{} has {} already", name, layout_name(board, target)));
  } else {
    lines.push_back(fmt::format("{} goes from {} to {}", name, layout_name(board, now),
                                layout_name(board, target)));
    say_waits(order.gpu, target, lines);
  }
  if (order.hold || gpus[order.gpu].hold) {
    lines.push_back(
        fmt::format("the layout is held: the policy places jobs on it and does not change it until "
                    "`smartmig unhold {}`",
                    order.gpu));
  } else if (target != now) {
    lines.emplace_back(
        "the policy may change this layout again at its next decision; `apply --hold` keeps it");
  }
}

// All of them, or none.
Answer<void> Controller::Impl::set_layouts(const std::vector<LayoutOrder>& orders,
                                           const std::string& who, bool dry_run,
                                           std::vector<std::string>& lines) {
  std::vector<SlotSet> targets;
  for (const LayoutOrder& order : orders) {
    const auto target = check_layout(order);
    if (!target) return tl::unexpected(target.error());
    targets.push_back(*target);
    say_layout(order, *target, lines);
  }
  if (dry_run) return {};
  const std::int64_t number = next_event;
  const TimeUs at_us = clock_us();
  for (std::size_t i = 0; i < orders.size(); ++i) {
    const GpuIndex index = orders[i].gpu;
    GpuBook& gpu = gpus[index];
    Event event;
    event.at_us = at_us;
    event.gpu = index;
    if (const SlotSet from = model->state().gpu(index).target; from != targets[i]) {
      note_change(index, from, {LayoutChange::By::kOperator, who, at_us, number});
      event.kind = Event::Kind::kLayout;
      event.slots = targets[i];
      record(event);
    }
    if (!orders[i].hold && !gpu.hold) continue;
    const bool was_held = gpu.hold.has_value();
    if (orders[i].hold) gpu.hold = LayoutHold{who, at_us, 0};
    gpu.hold->slots = targets[i];
    put_setting(hold_setting(gpu.row.uuid), to_text(*gpu.hold));
    if (was_held) continue;
    event.kind = Event::Kind::kHold;
    record(event);
    changed(index);
  }
  return {};
}

Answer<void> Controller::Impl::apply_layouts(const Command& command, const std::string& who,
                                             std::vector<std::string>& lines) {
  if (const auto twice = find_gpu_named_twice(command))
    return tl::unexpected(
        Refusal{400, fmt::format("names {} twice, expected each GPU once", *twice), "layouts"});
  std::vector<LayoutOrder> orders;
  for (const auto& [id, layout] : command.layouts) {
    const auto gpu = find_gpu(id);
    if (!gpu) return tl::unexpected(gpu.error());
    const auto set = parse_layout(model->fleet().board(*gpu), layout);
    if (!set) return tl::unexpected(Refusal{400, set.error().message, "layouts"});
    if (!model->is_for_jobs(*gpu, *set))
      return tl::unexpected(
          Refusal{400, fmt::format("{} has slices on which no job is placed", in_quotes(layout)),
                  "layouts"});
    orders.push_back({*gpu, *set, command.hold});
  }
  return set_layouts(orders, who, command.dry_run, lines);
}

// A held layout that is not there yet, where the start had to leave the GPU as it was.
void Controller::Impl::resume_held_change(GpuIndex index) {
  const GpuBook& gpu = gpus[index];
  const GpuState& state = model->state().gpu(index);
  if (!gpu.hold || gpu.hold->slots == 0 || gpu.hold->slots == state.target || !state.up ||
      gpu.intent || (model->foreign(index) & ~gpu.hold->slots) != 0)
    return;
  Event event;
  event.kind = Event::Kind::kLayout;
  event.at_us = clock_us();
  event.gpu = index;
  event.slots = gpu.hold->slots;
  record(event);
}

// --- the way back

Answer<void> Controller::Impl::roll_back(const Command& command, const std::string& who,
                                         std::vector<std::string>& lines) {
  std::vector<GpuIndex> which;
  if (command.gpu.empty()) {
    which = latest_changed();
  } else {
    const auto gpu = find_gpu(command.gpu);
    if (!gpu) return tl::unexpected(gpu.error());
    which = {*gpu};
  }
  std::vector<LayoutOrder> orders;
  for (const GpuIndex index : which) {
    const SlotSet earlier = gpus[index].row.last_good;
    const std::string by = changed_by(index);
    if (earlier == 0 || by.empty()) {
      lines.push_back(fmt::format("{}: no earlier layout is known", fleet.gpus[index]));
      continue;
    }
    const Board& board = model->fleet().board(index);
    lines.push_back(fmt::format("{}: undoes the change from {} to {} by {}", fleet.gpus[index],
                                layout_name(board, earlier),
                                layout_name(board, model->state().gpu(index).target), by));
    orders.push_back({index, earlier, false});
  }
  if (which.empty()) lines.emplace_back("no change of a layout is known");
  return set_layouts(orders, who, command.dry_run, lines);
}

void Controller::Impl::unhold(GpuIndex index, bool dry_run, std::vector<std::string>& lines) {
  GpuBook& gpu = gpus[index];
  if (!gpu.hold) {
    lines.push_back(fmt::format("{} is not held", gpu.row.uuid));
    return;
  }
  lines.push_back(
      fmt::format("{} was held by {}; the policy may change its layout from its next decision on",
                  gpu.row.uuid, gpu.hold->who));
  if (dry_run) return;
  gpu.hold.reset();
  put_setting(hold_setting(gpu.row.uuid), "");
  Event event;
  event.kind = Event::Kind::kUnhold;
  event.at_us = clock_us();
  event.gpu = index;
  record(event);
  changed(index);
}

}  // namespace smartmig
