// What operators ask for. Each is journalled with who asked before it takes effect.
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
std::string in_words(const Command& command) {
  std::string words(name_of(command.kind));
  if (!command.gpu.empty()) words += " " + command.gpu;
  if (command.hold) words += " --hold";
  for (const auto& [gpu, layout] : command.layouts) words += fmt::format(" {}={}", gpu, layout);
  if (command.kind == Command::Kind::kPowerCap)
    words += fmt::format(" {:g} W", command.power_cap_w);
  return words;
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

Answer<void> Controller::Impl::apply_plan(bool dry_run, std::vector<std::string>& lines) {
  Model copy = *model;
  const auto thaw = [&](Model& model_now) {
    Event event;
    event.kind = Event::Kind::kUnfreeze;
    event.at_us = clock_us();
    model_now.apply(event);
  };
  thaw(copy);
  for (const std::string_view line :
       split(reasons_text(copy.round(clock_us()), copy, gpu_names()), '\n')) {
    if (!line.empty()) lines.emplace_back(line);
  }
  if (lines.empty()) lines.emplace_back("nothing is to be done now");
  if (dry_run) return {};
  Event event;
  event.at_us = clock_us();
  const bool frozen = model->frozen();
  event.kind = Event::Kind::kUnfreeze;
  record(event);
  round(event.at_us);
  if (!frozen) return {};
  event.kind = Event::Kind::kFreeze;
  record(event);
  return {};
}

Answer<Outcome> Controller::Impl::carry_out(const Command& command, const std::string& who) {
  using Kind = Command::Kind;
  Outcome outcome;
  GpuIndex gpu = 0;
  const bool about_a_gpu = command.kind == Kind::kCordon || command.kind == Kind::kDrain ||
                           command.kind == Kind::kUncordon || command.kind == Kind::kAdopt ||
                           command.kind == Kind::kUnhold;
  if (about_a_gpu) {
    const auto found = find_gpu(command.gpu);
    if (!found) return tl::unexpected(found.error());
    gpu = *found;
  }
  const bool dry = command.dry_run;
  const auto setting = [&](const char* name, const char* value) {
    rows.emplace_back(std::pair<std::string, std::string>(name, value));
  };
  if (!trouble.empty() && !dry) return tl::unexpected(refuse(503, trouble));
  const bool would_decide = command.kind == Kind::kUnfreeze || command.kind == Kind::kApply ||
                            command.kind == Kind::kRollback;
  if (would_decide && !recovered)
    return tl::unexpected(refuse(
        409,
        "the journal was damaged, lost or went back in time: look at the fleet, then say recover"));
  Event event;
  event.at_us = clock_us();
  switch (command.kind) {
    case Kind::kFreeze:
    case Kind::kUnfreeze: {
      const bool freeze = command.kind == Kind::kFreeze;
      outcome.lines.push_back(
          freeze ? "nothing is cut, started or stopped from now on; what runs goes on"
                 : "it decides again");
      if (dry) break;
      event.kind = freeze ? Event::Kind::kFreeze : Event::Kind::kUnfreeze;
      record(event);
      setting("frozen", freeze ? "yes" : "no");
      break;
    }
    case Kind::kRecover: {
      std::size_t foreign = 0, fenced_gpus = 0;
      for (GpuIndex i = 0; i < gpus.size(); ++i) {
        foreign += static_cast<std::size_t>(std::popcount(model->foreign(i)));
        fenced_gpus += !gpus[i].row.fence.empty();
      }
      if (!damage.empty()) outcome.lines.push_back(damage);
      outcome.lines.push_back(
          fmt::format("{}{} slices stay foreign until they are adopted, {} fenced GPUs are tried "
                      "anew",
                      recovered ? "" : "it decides again; ", foreign, fenced_gpus));
      if (dry) break;
      const bool was_recovered = recovered.exchange(true);
      for (GpuIndex i = 0; i < gpus.size(); ++i) {
        if (!gpus[i].row.fence.empty()) retry_now(i);
      }
      if (was_recovered) break;
      damage.clear();
      doubt = JournalDoubt::kNothing;
      setting("recovered", "yes");
      setting("doubt", "");
      setting("frozen", "no");
      event.kind = Event::Kind::kUnfreeze;
      record(event);
      take_up();
      break;
    }
    case Kind::kCordon:
    case Kind::kDrain:
      outcome.lines.push_back(fmt::format(
          "{} takes nothing new{}", fleet.gpus[gpu],
          command.kind == Kind::kDrain ? "; jobs that can be stopped are saved and go elsewhere"
                                       : "; what runs there goes on"));
      if (model->change_open(gpu) || gpus[gpu].moving)
        outcome.lines.emplace_back("the change of its layout that is under way is finished first");
      if (dry) break;
      gpus[gpu].row.cordoned = true;
      gpus[gpu].row.draining = command.kind == Kind::kDrain;
      rows.emplace_back(gpus[gpu].row);
      apply_openness(gpu);
      if (command.kind == Kind::kDrain) stop_all_on(gpu);
      break;
    case Kind::kUncordon:
      outcome.lines.push_back(
          fmt::format("{} takes jobs again{}", fleet.gpus[gpu],
                      gpus[gpu].row.fence.empty() ? "" : "; its fence is tried now"));
      if (dry) break;
      gpus[gpu].row.cordoned = gpus[gpu].row.draining = false;
      if (!gpus[gpu].row.fence.empty()) retry_now(gpu);
      rows.emplace_back(gpus[gpu].row);
      apply_openness(gpu);
      break;
    case Kind::kAdopt:
      outcome.lines.push_back(
          fmt::format("{} foreign slices of {} become ours where nothing runs on them",
                      std::popcount(model->foreign(gpu)), fleet.gpus[gpu]));
      if (dry) break;
      gpus[gpu].adopts = true;
      order_read(gpu);
      break;
    case Kind::kApply: {
      const auto done = command.layouts.empty() ? apply_plan(dry, outcome.lines)
                                                : apply_layouts(command, who, outcome.lines);
      if (!done) return tl::unexpected(done.error());
      break;
    }
    case Kind::kRollback:
      if (auto done = roll_back(command, who, outcome.lines); !done)
        return tl::unexpected(done.error());
      break;
    case Kind::kUnhold:
      unhold(gpu, dry, outcome.lines);
      break;
    case Kind::kPowerCap:
      outcome.lines.push_back(
          command.power_cap_w > 0
              ? fmt::format(
                    "nothing is started that would take the fleet over {:g} W; it draws {:.0f} W",
                    command.power_cap_w, model->power_w())
              : "there is no power cap");
      if (dry) break;
      event.kind = Event::Kind::kLimits;
      event.limits = model->limits();
      event.limits.power_cap_w = command.power_cap_w;
      record(event);
      setting("power cap", fmt::format("{}", command.power_cap_w).c_str());
      break;
  }
  if (!dry) {
    audit(who, in_words(command));
    if (auto written = flush({}); !written)
      return tl::unexpected(refuse(503, kept_for_later(written.error().message)));
    notice("fleet", fmt::format(R"({{"command":"{}"}})", name_of(command.kind)));
  }
  return outcome;
}

}  // namespace smartmig
