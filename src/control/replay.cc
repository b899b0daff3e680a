#include "control/replay.h"

#include "control/model.h"
#include "control/reasons.h"

namespace smartmig {
namespace {

constexpr std::int64_t kProgressEvery = 10'000;

class Replay {
 public:
  Replay(JournalReader& journal, ReplayReport& report) : journal_(journal), report_(report) {}

  // False ends it: a difference was found, or an error.
  bool take(const EventRow& row) {
    auto event = parse_event(row);
    if (!event) return stop(event.error().message);
    ++report_.events;
    if (event->kind == Event::Kind::kBegin) return begin(row, *event);
    if (!model_) return true;  // What is left of a run whose beginning was trimmed.
    if (event->kind == Event::Kind::kRound) return round(row, *event);
    if (!model_->apply(*event))
      return stop(
          fmt::format("event {} ({}) contradicts what was before it", row.number, row.kind));
    return true;
  }
  const std::optional<Error>& error() const { return error_; }

 private:
  bool stop(std::string difference) {
    report_.difference = std::move(difference);
    return false;
  }
  bool begin(const EventRow& row, const Event& event) {
    if (event.snapshot.goes_on && model_ && !leads_to(row, event))
      return stop(fmt::format("event {}: what was before it does not lead there", row.number));
    report_.begins += !event.snapshot.goes_on || !model_;
    auto model = Model::make(event.snapshot, row.at_us);
    if (!model) {
      error_ = Error{fmt::format("event {}: {}", row.number, model.error().message)};
      return false;
    }
    model_.emplace(std::move(*model));
    return true;
  }
  bool leads_to(const EventRow& row, const Event& event) const {
    if (!model_->at_rest()) return false;
    Event mine = event;
    mine.snapshot = model_->snapshot();
    mine.snapshot.version = event.snapshot.version;
    mine.snapshot.goes_on = true;
    return to_row(mine).body == row.body;
  }
  bool round(const EventRow& row, const Event& event) {
    const Round& round = model_->round(event.at_us);
    ++report_.rounds;
    report_.decisions += round.decided();
    auto then = journal_.decision(row.number);
    if (!then) {
      error_ = then.error();
      return false;
    }
    const std::string now_text = round.decided() ? decision_text(round, *model_) : "nothing";
    const std::string then_text = *then ? (*then)->body : "nothing";
    if (now_text == then_text) return true;
    return stop(fmt::format("round {} at {:.6f} s: decided {}, then {}", row.number,
                            to_s(row.at_us), shortened(now_text), shortened(then_text)));
  }
  static std::string shortened(const std::string& text) {
    constexpr std::size_t kMost = 200;
    return text.size() <= kMost ? text : text.substr(0, kMost) + "...";
  }

  JournalReader& journal_;
  ReplayReport& report_;
  std::optional<Model> model_;
  std::optional<Error> error_;
};

}  // namespace

Result<ReplayReport> replay(JournalReader& journal,
                            const std::function<void(const ReplayReport&)>& progress) {
  ReplayReport report;
  Replay run(journal, report);
  const auto read = journal.each_event(0, [&](const EventRow& row) {
    if (progress && report.events % kProgressEvery == 0) progress(report);
    return run.take(row);
  });
  if (!read) return pass_on(read);
  if (run.error()) return tl::unexpected(*run.error());
  if (report.begins == 0) return fail("the journal has no start of a controller to replay from");
  return report;
}

}  // namespace smartmig
