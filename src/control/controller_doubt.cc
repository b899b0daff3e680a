// A journal that was damaged, lost or went back in time: how that is noticed, what is said about
// it, and which numbers of jobs are given out afterwards. Nothing is started, stopped, killed or
// cut until an operator says `recover`.
#include <algorithm>
#include <ctime>

#include "control/controller_impl.h"

namespace smartmig {

// Where it is not known what is owed an operator looks before anything is touched: nothing is
// started, stopped, killed or cut until `recover`. The first reason counts.
void Controller::Impl::doubt_journal(JournalDoubt kind, const std::string& why) {
  if (doubt != JournalDoubt::kNothing) return;
  doubt = kind;
  damage = why;
  recovered = false;
  // Written together with whatever is written next: a controller that dies right after that must
  // not give out a number twice. name_what_was_lost() knows more.
  put_setting(kRecoveredSetting, "no");
  put_setting(kNextJobSetting, std::to_string(unused_number()));
  put_setting(kFrozenSetting, "yes");
  put_setting(kDoubtSetting, damage);
}

// What can be told before the journal is read.
void Controller::Impl::doubt_what_was_opened(const std::vector<GpuReading>& readings) {
  using Kind = Journal::Standing::Kind;
  const Journal::Standing& standing = journal->standing();
  const auto has_runs = [](const GpuReading& gpu) {
    return std::any_of(gpu.slices.begin(), gpu.slices.end(),
                       [](const SliceReading& slice) { return !slice.run.empty(); });
  };
  recovered = journal->setting(kRecoveredSetting) != "no";
  if (!damage.empty()) {
    doubt_journal(JournalDoubt::kLost, damaged_journal.empty()
                                           ? damage
                                           : fmt::format("the journal was damaged ({}) and is kept "
                                                         "in {}",
                                                         damage, damaged_journal));
  } else if (standing.kind != Kind::kTrusted) {
    doubt_journal(standing.kind == Kind::kGone ? JournalDoubt::kLost : JournalDoubt::kWentBack,
                  standing.why);
  } else if (journal->setting(kFleetSetting).empty() &&
             std::any_of(readings.begin(), readings.end(), has_runs)) {
    doubt_journal(JournalDoubt::kLost, "the journal is gone: the fleet has runs of an earlier one");
  } else if (!recovered) {
    damage = journal->setting(kDoubtSetting);
  }
}

// Job numbers from `known_below` on, as far as the mark or the fleet knows them, were given to jobs
// that the journal does not have.
void Controller::Impl::name_what_was_lost(const std::vector<GpuReading>& readings,
                                          JobNumber known_below) {
  for (const GpuReading& gpu : readings) {
    for (const SliceReading& slice : gpu.slices)
      heard_job = std::max(heard_job, number_of_run(slice.run));
  }
  const JobNumber last = std::max(journal->standing().next_job - 1, heard_job);
  if (last > known_below)
    damage += fmt::format("; jobs {} to {} were accepted and are not in it", known_below, last);
  if (last == known_below)
    damage += fmt::format("; job {} was accepted and is not in it", known_below);
  next_job = std::max(next_job, last + 1);
  skip_used_numbers(readings);
  put_setting(kDoubtSetting, damage);
  audit("smartmig", damage);
  tell_trouble();
}

// Higher than what the journal and its mark know, and than the clock, which grows faster than the
// numbers of most.
JobNumber Controller::Impl::unused_number() const {
  return std::max({next_job, journal->standing().next_job, std::int64_t{std::time(nullptr)}});
}

// Numbers of jobs that no journal has given out before, as far as can be known: unused_number(),
// and higher than that of any run that is there.
void Controller::Impl::skip_used_numbers(const std::vector<GpuReading>& readings) {
  next_job = unused_number();
  for (const GpuReading& gpu : readings) {
    for (const SliceReading& slice : gpu.slices)
      next_job = std::max(next_job, number_of_run(slice.run) + 1);
  }
  numbers_from = next_job;
  put_setting(kNextJobSetting, std::to_string(next_job));
}

// Whether no transaction of this journal speaks of the run: it was ordered after the last of them.
bool Controller::Impl::is_ahead(const std::string& run) const {
  const JobNumber number = number_of_run(run);
  if (number >= next_job) return true;
  const auto found = jobs.find(number);
  return found != jobs.end() && attempt_of_run(run) > found->second.row.attempt;
}

// Such a run on a GPU that could not be read at the start.
void Controller::Impl::doubt_while_running(const std::string& run) {
  doubt_journal(
      JournalDoubt::kWentBack,
      fmt::format("the journal went back: the fleet has run {}, of which the journal does "
                  "not know",
                  run));
  next_job = std::max(next_job, number_of_run(run) + 1);
  skip_used_numbers({});
  audit("smartmig", damage);
  tell_trouble();
  Event event;
  event.kind = Event::Kind::kFreeze;
  event.at_us = clock_us();
  record(event);
}

// At the start: of a run that is there, or of an event about one.
void Controller::Impl::note_unknown_run(const std::string& run) {
  const JobNumber number = number_of_run(run);
  heard_job = std::max(heard_job, number);
  if (number >= next_job)
    doubt_journal(JournalDoubt::kWentBack,
                  fmt::format("the journal went back: the fleet has had run {}, and the journal "
                              "knows no such job",
                              run));
}

// A later attempt of a job than the journal knows of, which has thus gone back: the hardware
// decides what exists, and the job is taken to be where the fleet has it.
JobBook* Controller::Impl::follow_later_attempt(const std::string& run) {
  const auto found = jobs.find(number_of_run(run));
  if (found == jobs.end() || attempt_of_run(run) <= found->second.row.attempt) return nullptr;
  doubt_journal(JournalDoubt::kWentBack,
                fmt::format("the journal went back: the fleet has had run {}, and the journal ends "
                            "at attempt {} of the job",
                            run, found->second.row.attempt));
  found->second.row.attempt = attempt_of_run(run);
  found->second.row.phase = JobPhase::kRunning;
  return &found->second;
}

// Runs that are there. Their slices were made for them: they are ours.
void Controller::Impl::follow_later_runs(const std::vector<GpuReading>& readings) {
  for (GpuIndex index = 0; index < gpus.size(); ++index) {
    for (const SliceReading& slice : readings[index].slices) {
      JobBook* book = follow_later_attempt(slice.run);
      if (book == nullptr) continue;
      book->row.gpu = gpus[index].row.uuid;
      book->row.slice = slice.uuid;
      rows.emplace_back(book->row);
      if (gpus[index].ours.insert(slice.uuid).second)
        rows.emplace_back(SliceRow{slice.uuid, gpus[index].row.uuid, slice.slot, boot_us});
    }
  }
}

// How far a change has come that a journal speaks of which went back is not known: the GPU stays as
// the hardware has it.
void Controller::Impl::drop_intent(GpuIndex index) {
  IntentRow& intent = *gpus[index].intent;
  intent.step.clear();
  intent.closed_us = boot_us;
  intent.outcome = "dropped: the journal went back";
  rows.emplace_back(intent);
  gpus[index].intent.reset();
}

// Whether the journal has spoken of that attempt of a job, or of the job where `attempt` is 0. Of
// runs of a journal that was lost, or of the part of this one that was, it has not.
bool Controller::Impl::has_heard_of(JobNumber number, int attempt) {
  if (number < first_job || number >= next_job) return false;
  if (const auto found = jobs.find(number); found != jobs.end())
    return attempt <= found->second.row.attempt;
  // Finished, and perhaps forgotten for its age.
  if (number >= numbers_from) return true;
  if (!open_reader()) return false;
  const auto row = reader->job(number);
  return row && *row && attempt <= (*row)->attempt;
}

}  // namespace smartmig
