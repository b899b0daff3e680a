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
  // A copy decides the same from here on; the room to look ahead in is its own.
  Foresight(const Foresight& other)
      : Partitioner(other),
        options_(other.options_),
        terms_(other.terms_),
        knobs_(other.knobs_),
        contenders_(other.contenders_),
        demand_(other.demand_),
        active_(other.active_),
        looks_(other.looks_),
        rests_(other.rests_),
        credit_(other.credit_),
        events_(other.events_),
        next_look_(other.next_look_),
        nothing_runs_since_(other.nothing_runs_since_),
        tries_(other.tries_) {}
  std::unique_ptr<Partitioner> clone() const override { return std::make_unique<Foresight>(*this); }

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
    rests_.assign(contenders_.size(), 0);
    credit_ = terms_.credit_events;
    events_ = next_look_ = 0;
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
    if (view.jobs_in_system() > 0 && view.events() >= next_look_) look_ahead(view);
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

  Room& room(const View& view) {
    if (room_) return *room_;
    room_ = std::make_unique<Room>(view.fleet(), terms_.most_gpus);
    room_->look.emplace(room_->sample, make_contenders(room_->sample.fleet(), options_, knobs_),
                        view);
    return *room_;
  }

  void look_ahead(const View& view) {
    Room& room = this->room(view);
    const double share = room.sample.share();
    credit_ += terms_.events_for_each_event * share * static_cast<double>(view.events() - events_);
    events_ = view.events();
    if (credit_ < 0) {
      next_look_ = events_ + events_to_earn(-credit_, share);
      return;
    }
    Random random(options_.seed, "look", looks_);
    room.sample.draw(random);
    look_at_present(view, room.sample, random, room.present);
    LookTerms terms = terms_.look;
    terms.future.arrivals = static_cast<std::size_t>(std::clamp(
        terms_.arrivals_for_each_job * static_cast<double>(room.present.jobs.size()),
        static_cast<double>(terms_.least_arrivals), static_cast<double>(terms_.most_arrivals)));
    terms.per_watt_minute = options_.energy_weight * 8 * demand_.jobs_a_day(view.now());
    const Look::Answer answer = room.look->choose(view, room.present, terms, active_, contenders_,
                                                  rests_, Random(options_.seed, "futures", looks_));
    ++looks_;
    credit_ -= static_cast<double>(answer.events);
    next_look_ = events_ + events_to_earn(static_cast<double>(answer.events), share);
    if (answer.best == active_) return;
    switch_to(answer.best, view);
  }

  // Events of the fleet until so many simulated ones have been earned.
  long events_to_earn(double simulated, double share) const {
    const double each =
        terms_.events_for_each_event + terms_.credit_for_each_event * std::max(0., credit_);
    return std::max(1L, static_cast<long>(simulated / each / share));
  }

  PolicyOptions options_;
  ForesightTerms terms_;
  SmartmigKnobs knobs_;
  std::vector<Contender> contenders_;  // For the fleet; those that are simulated are the look's.
  Demand demand_;
  std::size_t active_ = kFirst;
  std::uint64_t looks_ = 0;
  std::vector<int> rests_;  // Looks that each contender is left out of.
  double credit_ = 0;
  long events_ = 0;     // Of the fleet, as of the last look.
  long next_look_ = 0;  // Not before so many of them.
  TimeUs nothing_runs_since_ = kNever;
  int tries_ = 0;  // Contenders tried since then.
  std::unique_ptr<Room> room_;
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
