#include "server/controller_backend.h"

#include <utility>

#include "control/reasons.h"

namespace smartmig {

template <class Body>
auto ControllerBackend::read(const Body& body) -> decltype(body(std::declval<JournalReader&>())) {
  // More than lists are read at once by people; the rest is closed again.
  constexpr std::size_t kKept = 8;
  std::optional<JournalReader> reader;
  {
    const std::lock_guard lock(mutex_);
    if (!free_readers_.empty()) {
      reader.emplace(std::move(free_readers_.back()));
      free_readers_.pop_back();
    }
  }
  if (!reader) {
    auto opened = JournalReader::open(state_dir_);
    if (!opened) return pass_on(opened);
    reader.emplace(std::move(*opened));
  }
  auto result = body(*reader);
  if (result) {
    const std::lock_guard lock(mutex_);
    if (free_readers_.size() < kKept) free_readers_.push_back(std::move(*reader));
  }
  return result;
}

void ControllerBackend::close_readers() {
  const std::lock_guard lock(mutex_);
  free_readers_.clear();
}

Answer<Controller::Submitted> ControllerBackend::submit(std::string_view body,
                                                        const std::string& owner, bool dry_run) {
  const auto request = parse_job_request(body);
  if (!request) return tl::unexpected(request.error());
  if (dry_run) {
    if (auto fits = controller_.check(*request); !fits) return tl::unexpected(fits.error());
    return Controller::Submitted{0, true};
  }
  return controller_.submit(*request, owner);
}

Answer<Cancelled> ControllerBackend::cancel(JobNumber job, const std::string& who,
                                            const std::string& owner) {
  return controller_.cancel(job, who, owner);
}

Answer<Outcome> ControllerBackend::command(const Command& command, const std::string& who) {
  return controller_.command(command, who);
}

Answer<std::vector<std::string>> ControllerBackend::explain_job(JobNumber job) {
  auto lines = controller_.explain_job(job);
  if (lines || lines.error().status != 404) return lines;
  // It is over, or never was.
  const auto row = this->job(job);
  if (row && *row) return how_it_ended(**row);
  return lines;
}

Answer<std::vector<std::string>> ControllerBackend::explain_gpu(const std::string& id) {
  return controller_.explain_gpu(id);
}

std::vector<Notice> ControllerBackend::notices_after(std::uint64_t after, int wait_ms,
                                                     bool& missed) {
  return controller_.notices_after(after, wait_ms, missed);
}

Result<std::optional<JobRow>> ControllerBackend::job(JobNumber number) {
  return read([&](JournalReader& reader) { return reader.job(number); });
}

Result<std::vector<JobRow>> ControllerBackend::jobs(std::optional<JobPhase> phase, JobNumber after,
                                                    int limit) {
  return read([&](JournalReader& reader) { return reader.jobs(phase, after, limit); });
}

Result<std::vector<DecisionRow>> ControllerBackend::decisions(std::int64_t before, int limit) {
  return read([&](JournalReader& reader) { return reader.decisions(before, limit); });
}

Result<std::optional<DecisionRow>> ControllerBackend::decision(std::int64_t number) {
  return read([&](JournalReader& reader) { return reader.decision(number); });
}

Result<std::vector<IntentRow>> ControllerBackend::intents(const std::string& gpu,
                                                          std::int64_t before, int limit) {
  return read([&](JournalReader& reader) { return reader.intents(gpu, before, limit); });
}

Result<std::vector<AuditRow>> ControllerBackend::audit(std::int64_t before, int limit) {
  return read([&](JournalReader& reader) { return reader.audit(before, limit); });
}

}  // namespace smartmig
