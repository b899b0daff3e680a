// `queue-prices`, a joint policy: what a slice-minute is worth follows from the queue, and no
// constant is of any workload's jobs (docs/model/queue-prices.md).
#include <algorithm>
#include <cmath>

#include "policy/demand.h"
#include "policy/partitioners.h"
#include "policy/ready_jobs.h"
#include "policy/rooms.h"

namespace smartmig {
namespace {

constexpr std::ptrdiff_t kPlacedAtOnce = 1024;
constexpr int kVainTries = 64;
constexpr std::size_t kRoomForJobs = 8192;  // With more vectors grow a few times more.
// A job is urgent by exp(-slack / (this times the mean time of those that wait)).
constexpr double kSlackScale = 2;
constexpr double kMemoryJobs = 100;  // Of the mean queue, in arrivals.
// What is left of a GPU is worth something to later jobs: in jobs, for each compute slice.
constexpr double kRoom = 0.002;
// A job waits for a slice for as long as was promised to it first, and half as long again.
constexpr double kHeldFor = 1.5;
// A job that was started runs for this part of the mean time of those that wait before it may be
// stopped: where stops cost nothing, two jobs would stop each other for ever.
constexpr double kLeastRun = 0.05;

class QueuePrices : public Partitioner {
 public:
  QueuePrices(double energy_weight, const QueuePriceStyle& style)
      : energy_weight_(energy_weight), style_(style) {}
  std::unique_ptr<Partitioner> clone() const override {
    return std::make_unique<QueuePrices>(*this);
  }
  bool stops_jobs() const override { return true; }

  void first_layouts(const View& view, std::vector<SlotSet>& layouts) override {
    demand_.begin(view.now());
    mean_queue_ = queue_ = 0;
    last_us_ = view.now();
    promised_.clear();
    promised_.reserve(kRoomForJobs);
    rooms_.reserve(view.fleet().gpu_count());
    whole_gpus(view.fleet(), layouts);
  }
  void take_over(const View& view) override {
    demand_.skip_to(view.arrived());
    promised_.clear();
  }
  void watch(const View& view) override {
    demand_.observe(view);
    follow_queue(view);
  }
  void learn_from(const Partitioner& other) override {
    const auto& from = dynamic_cast<const QueuePrices&>(other);
    demand_ = from.demand_;
    mean_queue_ = from.mean_queue_;
    queue_ = from.queue_;
    last_us_ = from.last_us_;
  }

  void decide(View& view, Decision& decision) override {
    watch(view);
    unit_ = demand_.unit();
    collect_waiting(view);
    set_prices(view);
    collect_stoppable(view);
    decision.whole = view.everything_ready();
    RoomTerms terms;
    terms.unit = unit_;
    terms.empty = decision.whole;
    terms.energy = energy_weight_ * kPapersGpus * demand_.jobs_a_day(view.now());
    terms.room = kRoom;
    terms.waste = price_now_;
    terms.back = std::min(drain_, mean_minutes_);
    rooms_.begin(view, terms, stoppable_);
    start_jobs(view, decision);
    rooms_.add_repartitions(decision.repartitions);
  }

 private:
  // A job that waits. What a slice-minute for it is worth, as a logarithm, is its rank.
  struct Waiting {
    double rank = 0;
    double price = 0;  // Of a slice-minute, while it would run.
    std::uint32_t at = 0;
    static bool before(const Waiting& a, const Waiting& b) {
      return a.rank != b.rank ? a.rank > b.rank : a.at < b.at;
    }
  };
  struct Choice {
    double cost = 0;
    double minutes = 0;
    int slices = 0;
  };

  void follow_queue(const View& view) {
    const double gap_us = kDayUs / (demand_.jobs_a_day(view.now()) * view.fleet().gpu_count());
    const double elapsed = static_cast<double>(view.now() - last_us_);
    const double kept = std::exp(-elapsed / (gap_us * kMemoryJobs));
    mean_queue_ = mean_queue_ * kept + queue_ * (1 - kept);
    queue_ = static_cast<double>(view.ready_count()) / view.fleet().compute_slices();
    last_us_ = view.now();
  }

  // A job as a candidate; false: it runs nowhere.
  bool weigh(const View& view, JobIndex job, KindSet kinds, int held, Candidate& candidate) const {
    const auto times = view.believed_times(job, kinds);
    const double left = view.believed_left(job) / kMinuteUs / unit_;
    const double delay =
        view.costs().start_us > 0 ? to_min(view.look_at(job).delay_us()) / unit_ : 0;
    bool runs = false;
    for (int size = 0; size < kSizeCount; ++size) {
      candidate.minutes[size] = times[size] > 0 ? delay + left * times[size] : 0;
      candidate.speed[size] = times[size] > 0 ? 1 : 0;  // Whether it runs there at all.
      runs |= times[size] > 0;
    }
    candidate.job = job;
    candidate.kinds = kinds;
    candidate.held = candidate.size = static_cast<std::int8_t>(held);
    candidate.slack = to_min(view.job(job).deadline_us - view.now()) / unit_;
    return runs;
  }

  void collect_waiting(const View& view) {
    candidates_.clear();
    Candidate candidate;
    for_each_ready(view, order_, [&](JobIndex job, KindSet kinds) {
      if (weigh(view, job, kinds, -1, candidate)) candidates_.push_back(candidate);
    });
    waiting_ = candidates_.size();
  }

  // The size where the job costs least.
  template <class Cost>
  static Choice least(const Candidate& candidate, const Cost& cost_on) {
    Choice best;
    for (int size = 0; size < kSizeCount; ++size) {
      const double minutes = candidate.minutes[size];
      if (minutes == 0) continue;
      const double cost = cost_on(minutes, kSizes[size]);
      if (best.slices == 0 || cost < best.cost) best = {cost, minutes, kSizes[size]};
    }
    return best;
  }
  static double least_minutes(const Candidate& candidate) {
    return least(candidate, [](double minutes, int) { return minutes; }).cost;
  }
  static double least_area(const Candidate& candidate) {
    return least(candidate, [](double minutes, int slices) { return minutes * slices; }).cost;
  }

  // A slice that is kept for a minute delays each urgent job that waits by a minute over all
  // slices, and so those that come while jobs wait: as many as have come since jobs last did not
  // have to, for a busy time that has lasted so long is expected to last as long again.
  void set_prices(const View& view) {
    const auto waiting = static_cast<double>(std::max<std::size_t>(1, waiting_));
    const double slices = view.fleet().compute_slices();
    double minutes = 0, area = 0, urgent = 0;
    for (const Candidate& candidate : candidates_) {
      minutes += least_minutes(candidate);
      area += least_area(candidate);
    }
    mean_minutes_ = minutes / waiting;
    for (const Candidate& candidate : candidates_)
      urgent += std::exp(ln_urgency(candidate, least_minutes(candidate))) / waiting;
    const double busy = demand_.busy_arrivals() * view.fleet().gpu_count();
    price_now_ = style_.price * urgent * std::max(waiting, busy) / slices;
    price_later_ = style_.price * mean_queue_;
    drain_ = std::max(area / slices, to_min(demand_.busy_us(view.now())) / unit_);
  }
  double ln_urgency(const Candidate& candidate, double minutes) const {
    return -std::max(0., candidate.slack - minutes) / (kSlackScale * mean_minutes_);
  }
  // The mean price over the next so many minutes: today's while this queue drains.
  double price_over(double minutes) const {
    if (minutes <= drain_) return price_now_;
    return (price_now_ * drain_ + price_later_ * (minutes - drain_)) / minutes;
  }

  // Those that may be stopped follow the waiting ones.
  void collect_stoppable(const View& view) {
    Candidate candidate;
    const Fleet& fleet = view.fleet();
    const auto least_run_us =
        1 + static_cast<TimeUs>(kLeastRun * mean_minutes_ * unit_ * kMinuteUs);
    for (const SliceId id : view.running()) {
      if (!Rooms::can_stop(view, id, least_run_us)) continue;
      const SeenSlice slice = view.slice(id);
      if (weigh(view, slice.job, view.kinds(slice.job), fleet.kinds()[slice.kind].size, candidate))
        candidates_.push_back(candidate);
    }
    Rooms::list_stoppable(view, std::span(candidates_).subspan(waiting_), unit_, stoppable_);
  }

  // What a delay costs most per slice-minute comes first.
  void rank() {
    ranked_.clear();
    for (std::uint32_t i = 0; i < waiting_; ++i) {
      const Candidate& candidate = candidates_[i];
      const Choice best = least(candidate, [&](double minutes, int slices) {
        return late_minutes(0, minutes, candidate.slack) + price_over(minutes) * slices * minutes;
      });
      const double rank =
          ln_urgency(candidate, best.minutes) - std::log(best.minutes * best.slices);
      ranked_.push_back({rank, price_over(best.minutes), i});
    }
  }

  void start_jobs(const View& view, Decision& decision) {
    rank();
    const auto some =
        ranked_.begin() + std::min<std::ptrdiff_t>(kPlacedAtOnce, std::ssize(ranked_));
    std::partial_sort(ranked_.begin(), some, ranked_.end(), Waiting::before);
    int in_vain = 0;
    for (auto at = ranked_.begin(); at != some && in_vain < kVainTries; ++at)
      in_vain = start_one(view, *at, decision) ? 0 : in_vain + 1;
  }

  bool start_one(const View& view, const Waiting& waiting, Decision& decision) {
    const Candidate& candidate = candidates_[waiting.at];
    const JobIndex job = candidate.job;
    const double restore = view.has_run(job) ? to_min(view.restore_us(job)) / unit_ : 0;
    Rooms::Option option;
    if (!rooms_.find(candidate, kSizeCount - 1, may_wait(view, job), restore, option,
                     waiting.price))
      return false;
    const bool starts = rooms_.take(option, candidate, restore, decision);
    if (!starts) promise(view, job, option.start);
    return starts;
  }

  bool may_wait(const View& view, JobIndex job) const {
    if (!style_.waits || view.everything_ready()) return false;
    return job >= promised_.size() || promised_[job] == 0 || view.now() < promised_[job];
  }
  void promise(const View& view, JobIndex job, double minutes) {
    if (job >= promised_.size()) promised_.resize(view.arrived());
    if (promised_[job] == 0)
      promised_[job] = view.now() + 1 + static_cast<TimeUs>(kHeldFor * minutes * unit_ * kMinuteUs);
  }

  double energy_weight_;
  QueuePriceStyle style_;
  Demand demand_;
  double queue_ = 0;       // Jobs that waited at the last instant, for each compute slice,
  double mean_queue_ = 0;  // and a mean over time that forgets.
  TimeUs last_us_ = 0;
  std::vector<TimeUs> promised_;  // By job: until when it may wait; 0: nothing was promised.

  // Of the present instant, with room that is kept.
  double unit_ = 1;  // Minutes are so many minutes long.
  double price_now_ = 0, price_later_ = 0;
  double drain_ = 0;  // Until the queue is gone.
  double mean_minutes_ = 0;
  std::vector<JobIndex> order_;
  std::vector<Candidate> candidates_;  // The waiting ones first.
  std::size_t waiting_ = 0;
  std::vector<Waiting> ranked_;
  std::vector<Rooms::Stoppable> stoppable_;
  Rooms rooms_;
};

}  // namespace

std::unique_ptr<Partitioner> make_queue_prices(double energy_weight, const QueuePriceStyle& style) {
  return std::make_unique<QueuePrices>(energy_weight, style);
}

}  // namespace smartmig
