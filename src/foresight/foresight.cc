#include "foresight/foresight.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "policy/demand.h"

namespace smartmig {
namespace {

// Before it has looked ahead: whole GPUs, which regret nothing while there are few jobs.
constexpr std::size_t kFirst = 1;
// Longer than making slices and starting a process take.
constexpr TimeUs kPatienceUs = 30 * kSecondUs;

class Foresight : public Partitioner {
 public:
  Foresight(const Fleet& fleet, const PolicyOptions& options, const ForesightTerms& terms,
            const SmartmigKnobs& knobs)
      : options_(options),
        terms_(terms),
        knobs_(knobs),
        contenders_(make_contenders(fleet, options, knobs)) {}
  std::unique_ptr<Partitioner> clone() const override { return std::make_unique<Foresight>(*this); }

  bool corrects_beliefs() const override { return true; }
  bool stops_jobs() const override { return active().partitioner->stops_jobs(); }
  bool follows_operations() const override { return active().partitioner->follows_operations(); }
  TimeUs next_timer(TimeUs now) const override {
    const TimeUs own = active().partitioner->next_timer(now);
    return nothing_runs_since_ == kNever ? own : std::min(own, nothing_runs_since_ + kPatienceUs);
  }
  Placer* present_placer() override { return active().present_placer(); }
  void reconsider(GpuIndex gpu) override { active().partitioner->reconsider(gpu); }
  void reseed(std::uint64_t seed) override { options_.seed = seed; }

  void first_layouts(const View& view, std::vector<SlotSet>& layouts) override {
    demand_.begin(view.now());
    active_ = kFirst;
    looks_ = 0;
    evidence_.clear(contenders_.size());
    credit_ = terms_.credit_events;
    events_ = 0;
    to_pay_ = 0;
    earned_us_ = view.now();
    nothing_runs_since_ = kNever;
    tries_ = 0;
    for (Contender& contender : contenders_) {
      layouts.clear();
      contender.policy.partitioner->first_layouts(view, layouts);
    }
    layouts.clear();
    active().partitioner->first_layouts(view, layouts);
  }

  void decide(View& view, Decision& decision) override {
    demand_.observe(view);
    for (std::size_t i = 0; i < contenders_.size(); ++i)
      if (i != active_) contenders_[i].policy.partitioner->watch(view);
    earn(view);
    if (view.jobs_in_system() > 0 && to_pay_ <= 0 && credit_ >= 0) look_ahead(view);
    leave_no_job_for_ever(view);
    active().partitioner->decide(view, decision);
  }

 private:
  const Policy& active() const { return contenders_[active_].policy; }

  void switch_to(std::size_t contender, const View& view) {
    active_ = contender;
    active().partitioner->take_over(view);
  }

  static bool layouts_change(const View& view) {
    for (GpuIndex gpu = 0; gpu < view.fleet().gpu_count(); ++gpu) {
      if (view.gpu(gpu).up && view.gpu(gpu).present != view.gpu(gpu).target) return true;
    }
    return false;
  }

  // Jobs wait, and for a while nothing has run, was promised a slice, or was made or destroyed: the
  // present contender has no place for them, and where no other event comes nothing else would
  // change that. The others take their turns.
  void leave_no_job_for_ever(const View& view) {
    if (view.ready_count() == 0 || !view.running().empty() || !view.awaiting().empty()) {
      nothing_runs_since_ = kNever;
      tries_ = 0;
    } else if (nothing_runs_since_ == kNever || layouts_change(view)) {
      nothing_runs_since_ = view.now();
    } else if (view.now() >= nothing_runs_since_ + kPatienceUs) {
      // Whole GPUs first, then the rule by prices, which makes what a job needs.
      switch_to(tries_ == 0 ? kFirst : tries_ == 1 ? 0 : (active_ + 1) % contenders_.size(), view);
      ++tries_;
      nothing_runs_since_ = view.now();
    }
  }

  // What it takes to look ahead; made when it is needed first.
  struct Room {
    Room(const Fleet& fleet, std::size_t most_gpus) : sample(fleet, most_gpus) {}
    FleetSample sample;
    Present present;
    std::optional<Look> look;
  };
  // A copy of the policy decides the same from here on, and makes room of its own.
  struct OwnRoom {
    OwnRoom() = default;
    OwnRoom(const OwnRoom&) {}
    std::unique_ptr<Room> own;
  };

  Room& room(const View& view) {
    if (room_.own) return *room_.own;
    Room& room = *(room_.own = std::make_unique<Room>(view.fleet(), terms_.most_gpus));
    room.look.emplace(room.sample, make_contenders(room.sample.fleet(), options_, knobs_), view);
    return room;
  }

  void look_ahead(const View& view) {
    Room& room = this->room(view);
    share_ = room.sample.share();
    Random random(options_.seed, "look", looks_);
    room.sample.draw(random);
    look_at_present(view, room.sample, random, room.present);
    LookTerms terms = terms_.look;
    const double busy_arrivals = demand_.busy_arrivals() * room.sample.fleet().gpu_count();
    terms.future.arrivals = arrivals_to_draw(room.present.jobs.size(), busy_arrivals);
    terms.later_arrivals = terms_.later_arrivals * busy_arrivals;
    terms.per_watt_minute = options_.energy_weight * kPapersGpus * demand_.jobs_a_day(view.now());
    const Look::Answer answer =
        room.look->choose(view, room.present, terms, active_, contenders_, evidence_,
                          Random(options_.seed, "futures", looks_));
    ++looks_;
    credit_ -= static_cast<double>(answer.events);
    to_pay_ = static_cast<double>(answer.events);
    if (answer.best == active_) return;
    switch_to(answer.best, view);
  }

  // Enough to see out the jobs of the present. A busy time that has lasted so long is expected to
  // last as long again.
  std::size_t arrivals_to_draw(std::size_t jobs, double busy_arrivals) const {
    const double for_jobs = terms_.arrivals_for_each_job * static_cast<double>(jobs);
    const double arrivals =
        std::max(std::clamp<double>(for_jobs, terms_.least_arrivals, terms_.most_arrivals_for_jobs),
                 std::min<double>(busy_arrivals, terms_.most_arrivals));
    return static_cast<std::size_t>(arrivals);
  }

  // The fleet's events, and the time between them, pay for the last look; then there may be
  // another.
  void earn(const View& view) {
    const auto seen = static_cast<double>(view.events() - events_);
    if (seen == 0) return;
    const double events = share_ * seen;
    const double hours = static_cast<double>(view.now() - earned_us_) / kHourUs;
    events_ = view.events();
    earned_us_ = view.now();
    const double earned =
        std::min(terms_.events_for_each_event * events + terms_.events_for_each_hour * hours,
                 terms_.most_for_each_event * seen);
    to_pay_ -= earned + terms_.credit_for_each_event * seen * std::max(0., credit_);
    credit_ = std::min(credit_ + earned, terms_.credit_events);
  }

  PolicyOptions options_;
  ForesightTerms terms_;
  SmartmigKnobs knobs_;
  std::vector<Contender> contenders_;  // For the fleet; those that are simulated are the look's.
  Demand demand_;
  std::size_t active_ = kFirst;
  std::uint64_t looks_ = 0;
  Evidence evidence_;
  double credit_ = 0;     // Simulated events,
  double to_pay_ = 0;     // and what is left to earn of what the last look took.
  double share_ = 1;      // The part of the fleet that is simulated.
  long events_ = 0;       // Of the fleet, that have paid,
  TimeUs earned_us_ = 0;  // and when they did.
  TimeUs nothing_runs_since_ = kNever;
  int tries_ = 0;  // Contenders tried since then.
  OwnRoom room_;
};

}  // namespace

Result<Policy> make_foresight(const std::string& knobs_file, const Fleet& fleet,
                              const PolicyOptions& options, const ForesightTerms& terms) {
  const auto knobs = read_knobs(knobs_file);
  if (!knobs) return pass_on(knobs);
  Policy policy;
  policy.partitioner = std::make_unique<Foresight>(fleet, options, terms, *knobs);
  return policy;
}

}  // namespace smartmig
