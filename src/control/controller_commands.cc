// What operators ask for. Each is journalled with who asked before it takes effect.
#include <algorithm>
#include <bit>
#include <set>

#include "base/text.h"
#include "control/controller_impl.h"
#include "control/reasons.h"

namespace smartmig {
namespace {

Refusal refuse(int status, std::string error, std::string field = {}) {
  return {status, std::move(error), std::move(field)};
}

std::string_view name_of(Command::Kind kind) {
  static constexpr std::string_view kNames[] = {"freeze",   "unfreeze",  "recover", "cordon",
                                                "drain",    "uncordon",  "adopt",   "apply",
                                                "rollback", "power cap", "unhold"};
  return kNames[static_cast<std::size_t>(kind)];
}

// For the audit log: "cordon 3", "apply 3=4-2-1", "power cap 900 W".
std::string command_text(const Command& command) {
  std::string words(name_of(command.kind));
  if (!command.gpu.empty()) words += " " + command.gpu;
  if (command.hold) words += " --hold";
  for (const auto& [gpu, layout] : command.layouts) words += fmt::format(" {}={}", gpu, layout);
  if (command.kind == Command::Kind::kPowerCap)
    words += fmt::format(" {:g} W", command.power_cap_w);
  return words;
}

bool is_about_one_gpu(Command::Kind kind) {
  using Kind = Command::Kind;
  return kind == Kind::kCordon || kind == Kind::kDrain || kind == Kind::kUncordon ||
         kind == Kind::kAdopt || kind == Kind::kUnhold;
}

}  // namespace

Answer<GpuIndex> Controller::Impl::find_gpu(const std::string& id) const {
  if (const auto found = gpu_by_uuid.find(id); found != gpu_by_uuid.end()) return found->second;
  const auto index = parse_integer(id);
  // A GPU has one number: neither 00 nor -0 is another name for 0.
  const bool plain = index && std::to_string(*index) == id;
  if (plain && *index >= 0 && *index < static_cast<std::int64_t>(gpus.size()))
    return static_cast<GpuIndex>(*index);
  return tl::unexpected(
      refuse(404,
             fmt::format("found {}, expected a GPU's UUID or a number from 0 to {}", in_quotes(id),
                         gpus.size() - 1),
             "gpu"));
}

// The UUID of a GPU that is named by its number and by its UUID; nothing where there is none.
std::optional<std::string> Controller::Impl::find_gpu_named_twice(const Command& command) const {
  std::set<GpuIndex> named;
  for (const auto& [id, layout] : command.layouts) {
    const auto found = find_gpu(id);
    if (found && !named.insert(*found).second) return fleet.gpus[*found];
  }
  return std::nullopt;
}

// The operator says that the fault is over: a look is enough, and the change that had failed is not
// tried again.
void Controller::Impl::retry_now(GpuIndex index) {
  gpus[index].row.retry_us = clock_us();
  gpus[index].row.failures = 0;
  gpus[index].wanted.reset();
  try_again(index);
}

// Tells every job there that can stop to do so.
void Controller::Impl::stop_all_on(GpuIndex index) {
  for (const JobNumber number : jobs_on(index)) {
    if (jobs.at(number).row.phase != JobPhase::kRunning) continue;
    const auto job = model->index_of(number);
    if (!job || !is_preemptible(model->state().job(*job)) ||
        model->state().preemption() != Preemption::kCheckpoint)
      continue;
    Event event;
    event.kind = Event::Kind::kSaving;
    event.at_us = clock_us();
    event.job = number;
    record(event);
  }
}

void Controller::Impl::apply_plan(bool dry_run, std::vector<std::string>& lines) {
  Event event;
  event.kind = Event::Kind::kUnfreeze;
  event.at_us = std::max(clock_us(), model->now());
  Model copy = *model;
  copy.apply(event);
  for (const std::string_view line :
       split(reasons_text(copy.round(event.at_us), copy, gpu_names()), '\n')) {
    if (!line.empty()) lines.emplace_back(line);
  }
  if (lines.empty()) lines.emplace_back("nothing is to be done now");
  if (dry_run) return;
  const bool frozen = model->frozen();
  record(event);
  round(event.at_us);
  if (!frozen) return;
  event.kind = Event::Kind::kFreeze;
  record(event);
}

void Controller::Impl::set_frozen(bool freeze, bool dry_run, std::vector<std::string>& lines) {
  lines.emplace_back(freeze
                         ? "the controller is frozen: it starts and stops no jobs and changes no "
                           "layouts; running jobs continue"
                         : "the controller decides again");
  if (dry_run) return;
  Event event;
  event.kind = freeze ? Event::Kind::kFreeze : Event::Kind::kUnfreeze;
  event.at_us = clock_us();
  record(event);
  put_setting(kFrozenSetting, freeze ? "yes" : "no");
}

void Controller::Impl::recover(bool dry_run, std::vector<std::string>& lines) {
  std::size_t foreign = 0, fenced_gpus = 0;
  for (GpuIndex i = 0; i < gpus.size(); ++i) {
    foreign += static_cast<std::size_t>(std::popcount(model->foreign(i)));
    fenced_gpus += !gpus[i].row.fence.empty();
  }
  if (!damage.empty()) lines.push_back(damage);
  if (!recovered) lines.emplace_back("the controller decides again");
  lines.push_back(
      foreign == 1 ? "1 slice is foreign and stays so until an operator adopts it"
                   : fmt::format("{} slices are foreign and stay so until an operator adopts them",
                                 foreign));
  lines.push_back(fenced_gpus == 1
                      ? "the controller retries 1 fenced GPU now"
                      : fmt::format("the controller retries {} fenced GPUs now", fenced_gpus));
  if (dry_run) return;
  const bool was_recovered = recovered.exchange(true);
  for (GpuIndex i = 0; i < gpus.size(); ++i) {
    if (!gpus[i].row.fence.empty()) retry_now(i);
  }
  if (was_recovered) return;
  damage.clear();
  doubt = JournalDoubt::kNothing;
  put_setting(kRecoveredSetting, "yes");
  put_setting(kDoubtSetting, "");
  put_setting(kFrozenSetting, "no");
  Event event;
  event.kind = Event::Kind::kUnfreeze;
  event.at_us = clock_us();
  record(event);
  resume_unfinished();
}

void Controller::Impl::cordon(GpuIndex gpu, bool drain, bool dry_run,
                              std::vector<std::string>& lines) {
  lines.push_back(
      fmt::format("{} gets no new jobs and its layout is not changed; {}", fleet.gpus[gpu],
                  drain ? "its jobs that can be stopped are saved and continue on other GPUs"
                        : "its running jobs continue"));
  if (model->change_open(gpu) || gpus[gpu].moving)
    lines.emplace_back("the layout change that is under way is finished first");
  if (dry_run) return;
  gpus[gpu].row.cordoned = true;
  gpus[gpu].row.draining = drain;
  rows.emplace_back(gpus[gpu].row);
  apply_openness(gpu);
  if (drain) stop_all_on(gpu);
}

void Controller::Impl::uncordon(GpuIndex gpu, bool dry_run, std::vector<std::string>& lines) {
  const bool is_fenced = !gpus[gpu].row.fence.empty();
  lines.push_back(
      is_fenced ? fmt::format("{} gets jobs again once its fault is over; the controller retries "
                              "it now",
                              fleet.gpus[gpu])
                : fmt::format("{} gets jobs again", fleet.gpus[gpu]));
  if (dry_run) return;
  gpus[gpu].row.cordoned = gpus[gpu].row.draining = false;
  if (is_fenced) retry_now(gpu);
  rows.emplace_back(gpus[gpu].row);
  apply_openness(gpu);
}

void Controller::Impl::adopt(GpuIndex gpu, bool dry_run, std::vector<std::string>& lines) {
  const int foreign = std::popcount(model->foreign(gpu));
  const std::string& name = fleet.gpus[gpu];
  lines.push_back(
      foreign == 1
          ? fmt::format("{} has 1 foreign slice, which is adopted if no process uses it", name)
          : fmt::format("{} has {} foreign slices; those that no process uses are adopted", name,
                        foreign));
  if (dry_run) return;
  gpus[gpu].adopts = true;
  order_read(gpu);
}

void Controller::Impl::set_power_cap(double watts, bool dry_run, std::vector<std::string>& lines) {
  lines.push_back(watts > 0
                      ? fmt::format("no job is started that would take the fleet over {:g} W; "
                                    "the fleet draws {:.0f} W now",
                                    watts, model->power_w())
                      : "the fleet has no power cap");
  if (dry_run) return;
  Event event;
  event.kind = Event::Kind::kLimits;
  event.at_us = clock_us();
  event.limits = model->limits();
  event.limits.power_cap_w = watts;
  record(event);
  put_setting(kPowerCapSetting, fmt::format("{}", watts));
}

// Whether the controller can carry it out now.
Answer<void> Controller::Impl::check_command(const Command& command) const {
  using Kind = Command::Kind;
  if (!trouble.empty() && !command.dry_run) return tl::unexpected(refuse(503, trouble));
  const bool would_decide = command.kind == Kind::kUnfreeze || command.kind == Kind::kApply ||
                            command.kind == Kind::kRollback;
  if (would_decide && !recovered)
    return tl::unexpected(refuse(
        409,
        "the journal was damaged, lost or went back in time: look at the fleet, then say recover"));
  return {};
}

// `gpu` is that of a command about one GPU.
Answer<void> Controller::Impl::do_command(const Command& command, GpuIndex gpu,
                                          const std::string& who, std::vector<std::string>& lines) {
  using Kind = Command::Kind;
  const bool dry = command.dry_run;
  switch (command.kind) {
    case Kind::kFreeze:
    case Kind::kUnfreeze:
      set_frozen(command.kind == Kind::kFreeze, dry, lines);
      return {};
    case Kind::kRecover:
      recover(dry, lines);
      return {};
    case Kind::kCordon:
    case Kind::kDrain:
      cordon(gpu, command.kind == Kind::kDrain, dry, lines);
      return {};
    case Kind::kUncordon:
      uncordon(gpu, dry, lines);
      return {};
    case Kind::kAdopt:
      adopt(gpu, dry, lines);
      return {};
    case Kind::kApply:
      if (!command.layouts.empty()) return apply_layouts(command, who, lines);
      apply_plan(dry, lines);
      return {};
    case Kind::kRollback:
      return roll_back(command, who, lines);
    case Kind::kUnhold:
      unhold(gpu, dry, lines);
      return {};
    case Kind::kPowerCap:
      set_power_cap(command.power_cap_w, dry, lines);
      return {};
  }
  return {};
}

Answer<Outcome> Controller::Impl::carry_out(const Command& command, const std::string& who) {
  GpuIndex gpu = 0;
  if (is_about_one_gpu(command.kind)) {
    const auto found = find_gpu(command.gpu);
    if (!found) return tl::unexpected(found.error());
    gpu = *found;
  }
  if (const auto may = check_command(command); !may) return tl::unexpected(may.error());
  Outcome outcome;
  if (const auto done = do_command(command, gpu, who, outcome.lines); !done)
    return tl::unexpected(done.error());
  if (command.dry_run) return outcome;
  audit(who, command_text(command));
  if (auto written = flush({}); !written)
    return tl::unexpected(refuse(503, kept_for_later(written.error().message)));
  notice("fleet", fmt::format(R"({{"command":"{}"}})", name_of(command.kind)));
  return outcome;
}

}  // namespace smartmig
