#include "control/controller.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "control/bounded_call.h"
#include "control/controller_impl.h"
#include "control/event_pauses.h"
#include "control/job_fit.h"

namespace smartmig {
namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kHousekeepingNs = 100 * kMs;
constexpr std::int64_t kRetryFlushNs = 1000 * kMs;
constexpr int kEventWaitMs = 1000;
// A call waits a second for an event; one that has said nothing for so long is late.
constexpr std::int64_t kSilenceNs = 5000 * kMs;
constexpr std::size_t kNoticesKept = 10'000;
// A run is looked for at least this long after its expected end, by the fleet's clock.
constexpr TimeUs kLeastOverdueUs = kSecondUs;

std::string key_of(const std::string& owner, const std::string& key) { return owner + '\0' + key; }

Refusal not_accepted(const std::string& why) { return {503, "not accepted: " + why, ""}; }

}  // namespace

std::string run_name(JobNumber job, int attempt) { return fmt::format("{}.{}", job, attempt); }

Controller::Controller(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Controller::~Controller() = default;

Result<std::unique_ptr<Controller>> Controller::start(const ControllerOptions& options,
                                                      std::unique_ptr<Driver> driver) {
  auto impl = std::make_unique<Impl>(options);
  if (auto booted = impl->boot(std::move(driver)); !booted) return pass_on(booted);
  impl->lanes = std::make_unique<Lanes>(options.workers);
  impl->alive_ns = monotonic_ns();
  impl->loop_thread = std::thread([raw = impl.get()] { raw->loop(); });
  impl->event_thread = std::thread([raw = impl.get()] { raw->watch_events(); });
  return std::unique_ptr<Controller>(new Controller(std::move(impl)));
}

Controller::Impl::~Impl() {
  {
    const std::lock_guard lock(events_mutex);  // Nobody misses it between a look and a wait.
    stopping = true;
    events_journalled.notify_all();
  }
  {
    const std::lock_guard lock(inbox->mutex);
    inbox->arrived.notify_all();
  }
  {
    const std::lock_guard lock(seen_mutex);
    noticed.notify_all();
  }
  if (loop_thread.joinable()) loop_thread.join();
  if (driver) driver->close();  // Ends what waits for an answer.
  if (event_thread.joinable()) event_thread.join();
  lanes.reset();
  std::vector<Input> left;
  {
    const std::lock_guard lock(inbox->mutex);
    inbox->closed = true;
    left.swap(inbox->inputs);
  }
  for (Input& input : left) {
    if (auto* submission = std::get_if<Submission>(&input))
      submission->answer.set_value(tl::unexpected(Refusal{503, "the controller is stopping", ""}));
    if (auto* query = std::get_if<Query>(&input)) (*query)();
  }
}

// --- the loop

void Controller::Impl::loop() {
  while (!stopping) {
    alive_ns = monotonic_ns();
    std::vector<Input> inputs = wait_for_inputs();
    take(inputs);
    const std::int64_t now_ns = monotonic_ns();
    if (now_ns - last_housekeeping_ns >= kHousekeepingNs) {
      last_housekeeping_ns = now_ns;
      housekeeping();
    }
    if (!trouble.empty()) continue;
    if (model->next_due_us() <= clock_us()) round_due = true, latest_us = clock_us();
    if (round_due && now_ns >= next_round_ns) {
      round(latest_us);
      if (next_event - beginnings.back().event >= options.rebase_events) rebase();
    }
    dispatch();
    if (trouble.empty()) keep_what_came();
    refresh_picture();
    journal->rest();
  }
  if (!flush({})) return;  // What is not written was not acted on either.
}

std::vector<Input> Controller::Impl::wait_for_inputs() {
  const bool idle = jobs.empty() && calls.empty() && fenced.empty();
  std::int64_t wait_ns = idle ? 10 * kHousekeepingNs : kHousekeepingNs;
  // In trouble nothing is decided; housekeeping tries again to write.
  if (trouble.empty()) {
    std::int64_t away_ns = round_due ? 0 : wait_ns;
    if (const TimeUs due = model->next_due_us(); due != kNever) {
      const double away_us = static_cast<double>(due - clock_us()) / fleet.clock.speed;
      away_ns = std::min(away_ns, static_cast<std::int64_t>(std::clamp(away_us, 0.0, 1e6) * 1000));
    }
    wait_ns = std::min(wait_ns, std::max(away_ns, next_round_ns - monotonic_ns()));
  }
  std::unique_lock lock(inbox->mutex);
  inbox->arrived.wait_for(lock, std::chrono::nanoseconds(std::max<std::int64_t>(0, wait_ns)),
                          [&] { return stopping || !inbox->inputs.empty(); });
  std::vector<Input> inputs;
  inputs.swap(inbox->inputs);
  return inputs;
}

void Controller::Impl::take(std::vector<Input>& inputs) {
  std::vector<Submission> submissions;
  std::vector<Query> queries;
  for (Input& input : inputs) {
    if (auto* submission = std::get_if<Submission>(&input)) {
      submissions.push_back(std::move(*submission));
    } else if (auto* done = std::get_if<CallDone>(&input)) {
      on(*done);
    } else if (auto* events = std::get_if<std::vector<FleetEvent>>(&input)) {
      take(*events);
      // Where a look could not be judged for want of events, another can be now.
      for (const GpuIndex gpu : unjudged) gpus[gpu].row.retry_us = clock_us();
    } else {
      queries.push_back(std::move(std::get<Query>(input)));
    }
  }
  if (!submissions.empty()) accept(submissions);
  if (queries.empty()) return;
  // Whoever reads the journal after an answer finds there what the answer showed.
  if (trouble.empty()) keep_what_came();
  for (const Query& query : queries) query();
}

// Those that were not handled yet; they may have come by the thread that watches or with a look.
void Controller::Impl::take(const std::vector<FleetEvent>& events) {
  for (const FleetEvent& event : events) {
    if (event.number <= taken_event) continue;
    taken_event = event.number;
    on(event);
  }
  put_setting(kFleetEventSetting, std::to_string(taken_event));
}

// What was taken in and led to no decision. Then the thread that watches may let the fleet forget
// what it told, and fetch more.
void Controller::Impl::keep_what_came() {
  const bool nothing_to_write = rows.empty() && trouble.empty();
  if (!nothing_to_write && !flush({})) return;
  const std::lock_guard lock(events_mutex);
  if (journalled_event == taken_event) return;
  journalled_event = taken_event;
  events_journalled.notify_all();
}

// The job that was accepted before with the owner's key, if any: one of this batch, one that waits
// or runs, or one that is final.
Answer<std::optional<Controller::Impl::Known>> Controller::Impl::find_known(
    const Submission& submission, const std::vector<NewJob>& batch) {
  const std::string& key = submission.request.key;
  if (key.empty()) return std::nullopt;
  for (const NewJob& other : batch) {
    const JobRow& row = other.book.row;
    if (row.owner == submission.owner && row.key == key) return Known{row.number, row.body, true};
  }
  if (const auto found = keys.find(key_of(submission.owner, key)); found != keys.end())
    return Known{found->second, jobs.at(found->second).row.body, false};
  auto row = final_job_with(submission.owner, key);
  if (!row) return tl::unexpected(not_accepted(row.error().message));
  if (!*row) return std::nullopt;
  return Known{(*row)->number, (*row)->body, false};
}

Controller::Impl::NewJob Controller::Impl::make_job(Submission& submission, std::string body) {
  NewJob job{&submission, {}, {}};
  const TimeUs at_us = std::max(submission.at_us, boot_us);
  job.event.kind = Event::Kind::kSubmit;
  job.event.at_us = at_us;
  job.event.job = next_job++;
  job.event.work = to_job(submission.request, at_us);
  JobRow& row = job.book.row;
  row.number = job.event.job;
  row.key = submission.request.key;
  row.owner = submission.owner;
  row.body = std::move(body);
  row.submit_us = at_us;
  row.deadline_us = job.event.work.deadline_us;
  if (submission.request.max_runtime_s)
    job.book.max_runtime_us = to_us(*submission.request.max_runtime_s);
  return job;
}

// Its rows are durable.
void Controller::Impl::enter_job(NewJob& job) {
  SM_CHECK(model->apply(job.event));
  latest_us = std::max(latest_us, job.event.at_us);
  round_due = true;
  if (counterfactual) counterfactual->submitted(job.event.job, job.event.work, job.event.at_us);
  if (!job.book.row.key.empty()) keys[key_of(job.book.row.owner, job.book.row.key)] = job.event.job;
  changed(job.book);
  jobs.emplace(job.event.job, std::move(job.book));
  {
    const std::lock_guard lock(seen_mutex);
    ++counted.submitted;
  }
  job.submission->answer.set_value(Submitted{job.event.job, true});
}

// Writes the new jobs, which are the model's only once they are durable. Whatever needs nothing
// written is answered at once.
void Controller::Impl::accept(std::vector<Submission>& submissions) {
  std::vector<NewJob> created;
  // About jobs of this batch: they are answered once those are durable.
  std::vector<std::pair<Submission*, Answer<Submitted>>> repeated;
  std::vector<Row> more;
  for (Submission& submission : submissions) {
    std::string body = to_json_text(submission.request);
    const auto known = find_known(submission, created);
    if (!known) {
      submission.answer.set_value(tl::unexpected(known.error()));
    } else if (*known) {
      Answer<Submitted> answer = Submitted{(*known)->number, false};
      if ((*known)->body != body)
        answer = tl::unexpected(Refusal{
            409, fmt::format("job {} has this key and is another request", (*known)->number),
            "key"});
      if ((*known)->is_new)
        repeated.emplace_back(&submission, std::move(answer));
      else
        submission.answer.set_value(std::move(answer));
    } else if (std::ssize(jobs) + std::ssize(created) >= options.most_jobs) {
      submission.answer.set_value(tl::unexpected(
          not_accepted(fmt::format("{} jobs wait or run already", options.most_jobs))));
    } else {
      NewJob job = make_job(submission, std::move(body));
      more.emplace_back(job.book.row);
      EventRow event = to_row(job.event);
      event.number = next_event++;
      more.emplace_back(std::move(event));
      created.push_back(std::move(job));
    }
  }
  if (created.empty()) return;
  if (const Result<void> written = flush(more); !written) {
    const Refusal refusal = not_accepted(written.error().message);
    for (NewJob& job : created) job.submission->answer.set_value(tl::unexpected(refusal));
    for (auto& [submission, answer] : repeated)
      submission->answer.set_value(tl::unexpected(refusal));
    return;
  }
  for (NewJob& job : created) enter_job(job);
  for (auto& [submission, answer] : repeated) submission->answer.set_value(std::move(answer));
}

Result<void> Controller::Impl::open_reader() {
  if (reader) return {};
  auto opened = JournalReader::open(options.state_dir);
  if (!opened) return pass_on(opened);
  reader.emplace(std::move(*opened));
  return {};
}

Result<std::optional<JobRow>> Controller::Impl::final_job_with(const std::string& owner,
                                                               const std::string& key) {
  if (const auto opened = open_reader(); !opened) return pass_on(opened);
  return reader->job_by_key(owner, key);
}

// Everything that waits to be written, and `more`. Where that fails nothing of it is written,
// `more` is forgotten and the rest tried again.
Result<void> Controller::Impl::flush(const std::vector<Row>& more) {
  journal->begin();
  const auto put = [this](const Row& row) {
    std::visit(
        [this](const auto& what) {
          if constexpr (std::is_same_v<std::decay_t<decltype(what)>,
                                       std::pair<std::string, std::string>>) {
            journal->set_setting(what.first, what.second);
          } else {
            journal->put(what);
          }
        },
        row);
  };
  for (const std::string& uuid : forgotten_slices) journal->forget_slice(uuid);
  for (const Row& row : rows) put(row);
  for (const Row& row : more) put(row);
  const Result<void> done = journal->commit();
  last_flush_try_ns = monotonic_ns();
  if (!done) {
    cannot_write(done.error().message);
    return done;
  }
  rows.clear();
  forgotten_slices.clear();
  at("committed");
  refuses_submissions = false;
  if (!std::exchange(trouble, {}).empty()) tell_trouble();
  const std::lock_guard lock(seen_mutex);
  ++counted.commits;
  return done;
}

// Nothing is decided and submissions are refused until the journal can be written again.
void Controller::Impl::cannot_write(const std::string& why) {
  refuses_submissions = true;
  if (std::exchange(trouble, why).empty()) tell_trouble();
}

// An event of our own making, or seen: journalled, and the model's at once.
void Controller::Impl::record(Event event) {
  event.at_us = std::max(event.at_us, model->now());
  if (!model->apply(event)) return;  // It says nothing that is not so already.
  EventRow row = to_row(event);
  row.number = next_event++;
  rows.emplace_back(std::move(row));
  latest_us = std::max(latest_us, event.at_us);
  round_due = true;
}

// Fetches the fleet's events; fetches more only when those it has are journalled, since asking for
// later ones lets the fleet forget them.
void Controller::Impl::watch_events() {
  const double limit_s = kEventWaitMs / 1000.0 + options.call_timeout_s;
  EventPauses pauses;
  std::unique_lock lock(events_mutex);
  while (!stopping) {
    const std::uint64_t after = journalled_event;
    const std::int64_t begin_ns = monotonic_ns();
    if (unanswered_ns == 0) unanswered_ns = begin_ns;
    lock.unlock();
    auto events = bounded_call(driver, limit_s, [after](Driver& there) {
      return there.events_after(after, kEventWaitMs);
    });
    const bool hung = static_cast<double>(monotonic_ns() - begin_ns) >= limit_s * 1e9;
    lock.lock();
    if (!events) {
      events_error = said(events.error());
      events_journalled.wait_for(lock, pauses.after_failure(hung),
                                 [this] { return stopping.load(); });
      continue;
    }
    const bool had_failed = !events_error.empty();
    unanswered_ns = 0;
    events_error.clear();
    pauses.answered();
    if (events->empty() && !had_failed) continue;
    // An empty list tells the loop that events are received again.
    const std::uint64_t last = events->empty() ? 0 : events->back().number;
    inbox->put(std::move(*events));
    events_journalled.wait(lock, [&] { return stopping || journalled_event >= last; });
  }
}

// Why the fleet's events are not received; empty: they are. By the clock, whether or not a call
// comes back.
std::string Controller::Impl::why_deaf() const {
  const std::lock_guard lock(events_mutex);
  if (unanswered_ns == 0) return {};
  if (events_error.empty() && monotonic_ns() - unanswered_ns <= kSilenceNs) return {};
  return "the fleet's events are not received: " +
         (events_error.empty() ? std::string("the fleet does not answer") : events_error);
}

void Controller::Impl::tell_whether_events_are_received() {
  const bool hears_now = why_deaf().empty();
  if (std::exchange(hears, hears_now) == hears_now) return;
  forget_picture();
  tell_trouble();
}

// What an operator should look at first; empty: nothing. One cause may outlast another.
std::string Controller::Impl::current_trouble() const {
  if (!trouble.empty()) return trouble;
  return damage.empty() ? why_deaf() : damage;
}

void Controller::Impl::tell_trouble() {
  notice("fleet", nlohmann::json{{"trouble", current_trouble()}}.dump());
}

// What is due by the clock rather than by something that happens.
void Controller::Impl::housekeeping() {
  const std::int64_t now_ns = monotonic_ns();
  tell_whether_events_are_received();
  if (!trouble.empty()) {
    if (now_ns - last_flush_try_ns >= kRetryFlushNs) keep_what_came();
    return;
  }
  if (const auto in_place = journal->check_files(); !in_place)
    return cannot_write(in_place.error().message);
  const auto limit_ns = static_cast<std::int64_t>(options.call_timeout_s * 1e9);
  for (const GpuIndex gpu : lanes->give_up(now_ns, limit_ns)) {
    gpus[gpu].hung = true;
    {
      const std::lock_guard lock(seen_mutex);
      ++counted.calls_given_up;
    }
    fence(gpu,
          fmt::format("a call to its driver has not answered for {:g} s", options.call_timeout_s));
  }
  if (recovered) do_what_is_due();
  forget_old();
}

void Controller::Impl::do_what_is_due() {
  const TimeUs now = clock_us();
  for (const GpuIndex gpu : std::vector<GpuIndex>(fenced.begin(), fenced.end())) {
    const TimeUs retry_us = gpus[gpu].row.retry_us;
    if (retry_us >= 0 && now >= retry_us) try_again(gpu);
  }
  for (const JobNumber number : watched) watch(jobs.at(number), now);
  look_for_overdue(now);
  compare_days(now);
}

// A run that takes a tenth longer than expected, and `stop_grace_s`, may not be there at all.
void Controller::Impl::expect_end(JobBook& book, TimeUs end_us) {
  const TimeUs more_us = std::max<TimeUs>(0, end_us - book.row.begin_us) / 10;
  forget_expected_end(book);
  book.overdue_us = end_us + std::max(kLeastOverdueUs, more_us + to_us(options.stop_grace_s));
  overdue_runs.emplace(book.overdue_us, book.row.number);
}

void Controller::Impl::forget_expected_end(JobBook& book) {
  if (book.overdue_us < 0) return;
  overdue_runs.erase({book.overdue_us, book.row.number});
  book.overdue_us = -1;
}

void Controller::Impl::look_for_overdue(TimeUs now) {
  while (!overdue_runs.empty() && overdue_runs.begin()->first <= now) {
    JobBook& book = jobs.at(overdue_runs.begin()->second);
    order_read(gpu_by_uuid.at(book.row.gpu));
    expect_end(book, now);
  }
}

// A job that should have stopped by now, or has run for as long as it may.
void Controller::Impl::watch(JobBook& book, TimeUs now) {
  const bool overdue =
      book.stop_due_us >= 0 && now > book.stop_due_us + to_us(options.stop_grace_s);
  if (overdue && !book.will_not_stop) {
    book.will_not_stop = true;
    // Else it says why it is killed.
    if (!book.row.cancelled) book.row.note = "it was told to stop and has not: its slice is fenced";
    rows.emplace_back(book.row);
    changed(book);
  }
  // Where the call itself fails the fence tries again.
  if (overdue && book.row.cancelled && !book.stop_failed &&
      !gpus[gpu_by_uuid.at(book.row.gpu)].hung)
    order_stop(book, false, now);
  if (book.max_runtime_us && book.begun && !book.row.cancelled &&
      book.ran_us(now) > *book.max_runtime_us) {
    book.row.cancelled = true;
    book.row.note = kOverran;
    rows.emplace_back(book.row);
    order_stop(book, false, clock_us());
  }
}

void Controller::Impl::notice(std::string kind, std::string json) {
  {
    const std::lock_guard lock(seen_mutex);
    notices.push_back({next_notice++, std::move(kind), std::move(json)});
    if (notices.size() > kNoticesKept) notices.pop_front();
  }
  noticed.notify_all();
}

// --- asked from other threads

Answer<Controller::Submitted> Controller::submit(const JobRequest& request,
                                                 const std::string& owner) {
  if (impl_->refuses_submissions)
    return tl::unexpected(not_accepted("the journal cannot be written now"));
  if (auto fits = check(request); !fits) return tl::unexpected(fits.error());
  Submission submission{request, owner, impl_->clock_us(), {}};
  auto answer = submission.answer.get_future();
  impl_->inbox->put(std::move(submission));
  return answer.get();
}

Answer<void> Controller::check(const JobRequest& request) const {
  return check_fits(to_job(request, 0), *impl_->boards);
}

Answer<Cancelled> Controller::cancel(JobNumber job, const std::string& who,
                                     const std::string& owner) {
  return impl_->ask<Answer<Cancelled>>(
      [this, job, who, owner] { return impl_->cancel(job, who, owner); });
}

Answer<Outcome> Controller::command(const Command& command, const std::string& who) {
  return impl_->ask<Answer<Outcome>>([this, command, who] {
    auto outcome = impl_->carry_out(command, who);
    impl_->forget_picture();
    return outcome;
  });
}

TimeUs Controller::now_us() const { return impl_->clock_us(); }

Counters Controller::counters() const {
  const std::lock_guard lock(impl_->seen_mutex);
  return impl_->counted;
}

std::vector<Notice> Controller::notices_after(std::uint64_t after, int wait_ms, bool& missed) {
  std::unique_lock lock(impl_->seen_mutex);
  impl_->noticed.wait_for(lock, std::chrono::milliseconds(wait_ms),
                          [&] { return impl_->stopping || impl_->next_notice - 1 > after; });
  const std::uint64_t first_kept =
      impl_->notices.empty() ? impl_->next_notice : impl_->notices.front().number;
  missed = first_kept > after + 1;
  const auto first = std::partition_point(impl_->notices.begin(), impl_->notices.end(),
                                          [&](const Notice& n) { return n.number <= after; });
  return {first, impl_->notices.end()};
}

std::uint64_t Controller::last_notice() const {
  const std::lock_guard lock(impl_->seen_mutex);
  return impl_->next_notice - 1;
}

}  // namespace smartmig
