// What keeps the journal from growing for ever: now and then a new model begins from where the old
// one stands, and what is old and before such a beginning is forgotten.
#include "base/text.h"
#include "control/controller_impl.h"

namespace smartmig {
namespace {

constexpr std::int64_t kTrimEveryNs = 60'000'000'000;  // Where the last one left nothing.
constexpr std::int64_t kTrimMoreNs = 200'000'000;
constexpr int kTrimRows = 500;  // At a time: some milliseconds.
constexpr const char* kBeginnings = "beginnings";

}  // namespace

void Controller::Impl::write_beginning(Snapshot snapshot, TimeUs at_us) {
  Event event;
  event.kind = Event::Kind::kBegin;
  event.at_us = at_us;
  event.snapshot = std::move(snapshot);
  EventRow row = to_row(event);
  row.number = next_event++;
  beginnings.push_back({row.number, at_us});
  rows.emplace_back(std::move(row));
  save_beginnings();
}

// "EVENT AT_US EVENT AT_US ..."
void Controller::Impl::save_beginnings() {
  std::string text;
  for (const Beginning& one : beginnings) text += fmt::format("{} {} ", one.event, one.at_us);
  put_setting(kBeginnings, std::move(text));
}

void Controller::Impl::read_beginnings() {
  const std::string text = journal->setting(kBeginnings);
  std::vector<std::int64_t> numbers;
  for (const std::string_view word : split(text, ' ')) {
    if (const auto number = parse_integer(word)) numbers.push_back(*number);
  }
  for (std::size_t i = 0; i + 1 < numbers.size(); i += 2)
    beginnings.push_back({numbers[i], numbers[i + 1]});
}

// After a round. What is over is forgotten, in memory too.
void Controller::Impl::rebase() {
  Snapshot snapshot = model->snapshot();
  snapshot.version = options.version;
  snapshot.goes_on = true;
  const TimeUs now = model->now();
  auto made = Model::make(snapshot, now);
  SM_CHECK(made.has_value());  // It has what the model has.
  earlier_energy_j += model->state().power().energy_j(now);
  model.emplace(std::move(*made));
  write_beginning(std::move(snapshot), now);
  latest_us = std::max(latest_us, now);
  round_due = true;
  next_trim_ns = 0;
}

void Controller::Impl::forget_old() {
  const std::int64_t now_ns = monotonic_ns();
  if (now_ns < next_trim_ns) return;
  const TimeUs before = clock_us() - options.keep_days * kDayUs;
  std::size_t old = 0;
  while (old + 1 < beginnings.size() &&
         (beginnings[old + 1].at_us <= before ||
          next_event - beginnings[old + 1].event >= options.keep_events))
    ++old;
  if (old > 0) {
    beginnings.erase(beginnings.begin(), beginnings.begin() + static_cast<std::ptrdiff_t>(old));
    save_beginnings();
    if (!flush({})) return;
  }
  const Journal::Kept kept{.since_us = before,
                           .rows = options.keep_rows,
                           .jobs_from = numbers_from,
                           .first_event = beginnings.front().event};
  const auto more = journal->trim(kept, kTrimRows);
  next_trim_ns = now_ns + (more && *more ? kTrimMoreNs : kTrimEveryNs);
}

}  // namespace smartmig
