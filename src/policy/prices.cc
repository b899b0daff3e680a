// `prices`, a joint policy: awards each job a size by what a slice is worth to it, with the price
// of slices learned, then packs the sizes where moves are free, or works its way there around what
// runs where they cost (docs/model/prices.md).
#include <algorithm>
#include <bit>
#include <cmath>

#include "policy/demand.h"
#include "policy/packing.h"
#include "policy/partitioners.h"
#include "policy/ready_jobs.h"
#include "policy/rooms.h"

namespace smartmig {
namespace {

// On larger fleets vectors grow a few times more.
constexpr std::size_t kRoomFor = 64;
constexpr std::size_t kMaxSlices = 7;  // Of a GPU.
// Where moves cost, what one decision does is bounded; the next event is never far.
constexpr std::ptrdiff_t kAtOnce = 1024;
constexpr int kPatience = 64;
constexpr std::size_t kAhead = 8;       // How far memory is asked for before it is looked at.
constexpr double kPapersWeight = 2e-7;  // Of energy in ET; the knobs were found with it.
constexpr double kLastingMin = 30;      // A queue of the moment is over by then.

// A candidate's place in line, apart from all else that is known of it.
struct Ranked {
  double weight = 0;
  JobIndex job = 0;
  std::uint32_t index = 0;
  std::int8_t size = -1;

  static bool weightier(const Ranked& a, const Ranked& b) {
    return a.weight != b.weight ? a.weight > b.weight : a.job < b.job;
  }
  // The larger first, the weightier among equals.
  friend bool operator<(const Ranked& a, const Ranked& b) {
    return a.size != b.size ? a.size > b.size : weightier(a, b);
  }
};

class Prices : public Partitioner {
 public:
  Prices(const SmartmigKnobs& knobs, const Fleet& fleet, double energy_weight, double price)
      : knobs_(knobs),
        energy_weight_(energy_weight),
        price_(price),
        packing_(std::make_shared<const Contents>(fleet)) {
    find_base_kinds(fleet);
  }
  std::unique_ptr<Partitioner> clone() const override { return std::make_unique<Prices>(*this); }
  bool stops_jobs() const override { return true; }
  void take_over(const View& view) override { demand_.skip_to(view.arrived()); }
  void watch(const View& view) override { demand_.observe(view); }
  void learn_from(const Partitioner& other) override {
    demand_ = dynamic_cast<const Prices&>(other).demand_;
  }

  void first_layouts(const View& view, std::vector<SlotSet>& layouts) override {
    demand_.begin(view.now());
    const auto room = std::min<std::size_t>(view.fleet().gpu_count(), kRoomFor);
    packing_.reserve(room);
    wanted_.resize(packing_.contents().size());
    for (auto& bins : wanted_) bins.reserve(room);
    filled_.reserve(room);
    stoppable_.reserve(room * kMaxSlices);
    rooms_.reserve(room);
    whole_gpus(view.fleet(), layouts);
  }

  void decide(View& view, Decision& decision) override {
    demand_.observe(view);
    const double backlog =
        std::log((static_cast<double>(view.jobs_in_system()) + 1) / view.fleet().compute_slices());
    const bool free_moves = view.everything_ready();
    const Knobs& knobs = free_moves ? knobs_.free_moves : knobs_.costly_moves;
    // A watt-minute and a minute of one job's tardiness weigh by how many jobs share the energy.
    unit_ = demand_.unit();
    energy_ = energy_weight_ / kPapersWeight * demand_.jobs_a_day(view.now()) / kPapersJobsADay;
    award_.begin(knobs, backlog, demand_.load(), demand_.trend(view.now()), energy_, !free_moves,
                 unit_, price_);
    collect_ready(view);
    if (free_moves) {
      award_.give(candidates_, slices_up(view), exactly_packable_gpus(view));
      pack(view);
      fill();
      emit(view, decision);
    } else {
      decide_around_what_runs(view, knobs, backlog, decision);
    }
  }

 private:
  void collect_ready(const View& view) {
    candidates_.clear();
    Candidate candidate;
    for_each_ready(view, order_, [&](JobIndex job, KindSet kinds) {
      if (award_.weigh(view, job, kinds, -1, candidate)) candidates_.push_back(candidate);
    });
  }

  // On small fleets of one board with the papers' geometry the award keeps to what layouts allow;
  // on others packing cuts what does not fit, which loses little where GPUs are many.
  static int exactly_packable_gpus(const View& view) {
    constexpr GpuIndex kSmall = 64;
    const Fleet& fleet = view.fleet();
    const Board& board = fleet.board(0);
    const bool exact = fleet.boards().size() == 1 && board.compute_slices == 7 &&
                       board.memory_slices == 8 && fleet.gpu_count() <= kSmall;
    return exact ? static_cast<int>(view.gpus_up()) : 0;
  }

  static int slices_up(const View& view) {
    int slices = 0;
    for (GpuIndex gpu = 0; gpu < view.fleet().gpu_count(); ++gpu) {
      if (view.gpu(gpu).up) slices += view.fleet().board(gpu).compute_slices;
    }
    return slices;
  }

  // --- moves are free: everything is packed anew

  // The boards on whose slices of that size the job runs.
  std::uint32_t boards_for(const Candidate& candidate, int size) const {
    std::uint32_t boards = 0;
    for (std::size_t board = 0; board < base_kinds_.size(); ++board) {
      const KindIndex kind = base_kinds_[board][size];
      if (kind != kNoKind && candidate.kinds >> kind & 1) boards |= 1u << board;
    }
    return boards;
  }

  void find_base_kinds(const Fleet& fleet) {
    base_kinds_.resize(fleet.boards().size());
    for (auto& kinds : base_kinds_) kinds.fill(kNoKind);
    for (std::size_t k = 0; k < fleet.kinds().size(); ++k) {
      const SliceKind& kind = fleet.kinds()[k];
      if (kind.base) base_kinds_[kind.board][kind.size] = static_cast<KindIndex>(k);
    }
  }

  // Largest first, the weightier first among equals; what fits nowhere is cut to the next smaller
  // size.
  void pack(const View& view) {
    gpus_.assign(view.fleet().boards().size(), 0);
    for (GpuIndex gpu = 0; gpu < view.fleet().gpu_count(); ++gpu)
      gpus_[view.fleet().board_index(gpu)] += view.gpu(gpu).up;
    packing_.clear(gpus_);
    rank(candidates_.size(), true);
    std::sort(ranked_.begin(), ranked_.end());
    for (std::size_t i = 0; i < ranked_.size(); ++i) {
      if (i + kAhead < ranked_.size()) __builtin_prefetch(&candidates_[ranked_[i + kAhead].index]);
      const std::uint32_t index = ranked_[i].index;
      Candidate& candidate = candidates_[index];
      while (candidate.size >= 0 && !pack_one(index, candidate.size)) --candidate.size;
    }
  }
  bool pack_one(std::uint32_t i, int size) {
    const Candidate& candidate = candidates_[i];
    return candidate.speed[size] > 0 && packing_.add(i, size, boards_for(candidate, size));
  }

  // Of the first `count` candidates those that have an award, or those that have none, in
  // `ranked_`.
  void rank(std::size_t count, bool awarded) {
    ranked_.clear();
    ranked_.reserve(candidates_.capacity());
    for (std::uint32_t i = 0; i < count; ++i) {
      const Candidate& candidate = candidates_[i];
      if ((candidate.size >= 0) == awarded)
        ranked_.push_back({candidate.weight, candidate.job, i, candidate.size});
    }
  }

  // What no layout had room for leaves slices over: waiting jobs get them, then jobs on the same
  // GPU grow into them, which costs hardly any power.
  void fill() {
    const int unused = packing_.unused();
    if (unused == 0) return;
    rank(candidates_.size(), false);
    const auto some = ranked_.begin() + std::min<std::ptrdiff_t>(unused, std::ssize(ranked_));
    std::partial_sort(ranked_.begin(), some, ranked_.end());
    for (auto at = ranked_.begin(); at != some; ++at) {
      Candidate& candidate = candidates_[at->index];
      for (int size = 0; size < kSizeCount && candidate.size < 0; ++size) {
        if (pack_one(at->index, size)) candidate.size = static_cast<std::int8_t>(size);
      }
    }
    auto& bins = packing_.bins();
    for (std::size_t i = 0; i < bins.size(); ++i) {
      if (i + 2 < bins.size()) fetch(bins[i + 2]);
      grow(bins[i]);
    }
  }

  void fetch(const Packing::Bin& bin) const {
    for (int i = 0; i < bin.count; ++i) __builtin_prefetch(&candidates_[bin.items[i].what]);
  }

  void fetch_jobs(const View& view, const Packing::Bin& bin) const {
    for (int i = 0; i < bin.count; ++i) view.prefetch(candidates_[bin.items[i].what].job);
  }

  void grow(Packing::Bin& bin) {
    const Contents& contents = packing_.contents();
    while (contents[bin.kind].unused > 0) {
      double best = 0;
      Packing::Item* grows = nullptr;
      int to = -1;
      for (int i = 0; i < bin.count; ++i) {
        const Candidate& candidate = candidates_[bin.items[i].what];
        const int from = bin.items[i].size;
        for (int size = from + 1; size < kSizeCount; ++size) {
          if (candidate.speed[size] <= candidate.speed[from] ||
              contents[bin.kind].changed[from][size] < 0 ||
              !(boards_for(candidate, size) >> contents[bin.kind].board & 1))
            continue;
          const double density = award_.density(candidate, from, size);
          if (density > best) best = density, grows = &bin.items[i], to = size;
        }
      }
      if (!grows) return;
      bin.kind = contents[bin.kind].changed[grows->size][to];
      grows->size = static_cast<std::int8_t>(to);
    }
  }

  // Bins become GPUs: first those that have the layout already.
  void emit(const View& view, Decision& decision) {
    const Fleet& fleet = view.fleet();
    const Contents& contents = packing_.contents();
    others_.resize(fleet.boards().size());
    for (auto& gpus : others_) gpus.clear();
    for (auto& bins : wanted_) bins.clear();
    filled_.clear();
    for (std::uint32_t b = 0; b < packing_.bins().size(); ++b)
      wanted_[static_cast<std::size_t>(packing_.bins()[b].kind)].push_back(b);
    decision.whole = true;
    for (GpuIndex gpu = 0; gpu < fleet.gpu_count(); ++gpu) {
      if (!view.gpu(gpu).up) continue;
      const std::uint8_t board = fleet.board_index(gpu);
      const int kind = contents.of(fleet.board(gpu), board, view.gpu(gpu).target);
      if (kind < 0 || wanted_[kind].empty()) {
        others_[board].push_back(gpu);
        continue;
      }
      filled_.emplace_back(gpu, wanted_[kind].back());
      wanted_[kind].pop_back();
    }
    for (auto& bins : wanted_) {
      for (const std::uint32_t b : bins) {
        auto& gpus = others_[contents[packing_.bins()[b].kind].board];
        SM_CHECK(!gpus.empty());
        filled_.emplace_back(gpus.back(), b);
        gpus.pop_back();
      }
    }
    for (std::size_t i = 0; i < filled_.size(); ++i) {
      if (i + 4 < filled_.size()) fetch(packing_.bins()[filled_[i + 4].second]);
      if (i + 2 < filled_.size()) fetch_jobs(view, packing_.bins()[filled_[i + 2].second]);
      emit_bin(view, filled_[i].first, packing_.bins()[filled_[i].second], decision);
    }
  }

  void emit_bin(const View& view, GpuIndex gpu, const Packing::Bin& bin, Decision& decision) {
    const Fleet& fleet = view.fleet();
    const Board& board = fleet.board(gpu);
    const std::size_t before = decision.repartitions.size();
    aim_at(view, gpu, packing_.contents()[bin.kind].set, decision);
    SlotSet open = decision.repartitions.size() > before ? decision.repartitions.back().target
                                                         : view.gpu(gpu).target;
    const auto start = [&](const Packing::Item& item, int slot) {
      open &= ~(SlotSet{1} << slot);
      decision.starts.push_back({candidates_[item.what].job,
                                 fleet.slice_at(gpu, board.slots[slot].start),
                                 static_cast<std::uint8_t>(slot)});
    };
    // Who is on such a slice already stays.
    std::uint32_t placed = 0;
    for (int i = 0; i < bin.count; ++i) {
      const SeenJob job = view.job(candidates_[bin.items[i].what].job);
      if (job.status != JobStatus::kRunning || fleet.gpu_of(job.slice) != gpu) continue;
      const int slot = view.slice(job.slice).slot;
      if (!(open >> slot & 1) ||
          board.slots[slot].profile != board.base_profile(kSizes[bin.items[i].size]))
        continue;
      start(bin.items[i], slot);
      placed |= 1u << i;
    }
    for (int i = 0; i < bin.count; ++i) {
      if (placed >> i & 1) continue;
      const int profile = board.base_profile(kSizes[bin.items[i].size]);
      const SlotSet fitting = open & board.profile_slots[profile];
      SM_CHECK(fitting != 0);
      start(bin.items[i], std::countr_zero(fitting));
    }
  }

  // --- moves cost: what runs stays unless something better pays for it

  void decide_around_what_runs(View& view, const Knobs& knobs, double backlog, Decision& decision) {
    const std::size_t waiting = candidates_.size();
    const double least_run_min = unit_ * std::exp(get(knobs, Knob::kLeastRun));
    const int slices = collect_running(view, static_cast<TimeUs>(least_run_min * kMinuteUs));
    award_.give(candidates_, slices);
    Rooms::list_stoppable(view, std::span(candidates_).subspan(waiting), unit_, stoppable_);
    RoomTerms terms;
    terms.unit = unit_;
    terms.energy = std::exp(get(knobs, Knob::kEnergy)) * energy_;
    terms.room = std::exp(get(knobs, Knob::kRoom));
    terms.distrust = std::exp(get(knobs, Knob::kDistrust));
    terms.stop = std::exp(get(knobs, Knob::kStop));
    terms.back = std::exp(get(knobs, Knob::kBack) + get(knobs, Knob::kBackBacklog) * backlog);
    // Time lost on a slice delays everyone who waits by their share of it.
    terms.waste = static_cast<double>(waiting) / view.fleet().compute_slices();
    rooms_.begin(view, terms, stoppable_);
    start_waiting(view, waiting, decision);
    if (view.preemption() == Preemption::kCheckpoint) {
      const JobIndex job = rooms_.worth_moving(std::exp(get(knobs, Knob::kMoveGain)));
      if (job != kNone) decision.stops.push_back(job);
    }
    rooms_.add_repartitions(decision.repartitions);
  }

  // Adds the running jobs that may be stopped; returns the slices that they and the waiting jobs
  // can have.
  int collect_running(const View& view, TimeUs least_run_us) {
    const Fleet& fleet = view.fleet();
    int slices = slices_up(view);
    Candidate candidate;
    for (const SliceId id : view.running()) {
      const SeenSlice slice = view.slice(id);
      if (Rooms::can_stop(view, id, least_run_us) &&
          award_.weigh(view, slice.job, view.kinds(slice.job), fleet.kinds()[slice.kind].size,
                       candidate)) {
        candidates_.push_back(candidate);
      } else {
        slices -= fleet.kinds()[slice.kind].compute;
      }
    }
    return slices;
  }

  // The weightier first, those with an award before the others, who take only what nobody wants.
  void start_waiting(const View& view, std::size_t waiting, Decision& decision) {
    for (const bool awarded : {true, false}) {
      if (!awarded && !rooms_.any_free()) return;
      rank(waiting, awarded);
      const auto some = ranked_.begin() + std::min<std::ptrdiff_t>(kAtOnce, std::ssize(ranked_));
      std::partial_sort(ranked_.begin(), some, ranked_.end(), Ranked::weightier);
      int in_vain = 0;  // Jobs in a row that found no place now.
      for (auto at = ranked_.begin(); at != some && in_vain < kPatience; ++at)
        in_vain = start_one(view, candidates_[at->index], decision) ? 0 : in_vain + 1;
    }
  }

  bool start_one(const View& view, const Candidate& candidate, Decision& decision) {
    const bool awarded = candidate.size >= 0;
    const double restore =
        view.has_run(candidate.job) ? to_min(view.restore_us(candidate.job)) / unit_ : 0;
    // The award is of this instant. A job that will be there long after it, and cannot be moved,
    // looks at all sizes, and waits for a larger one if that pays.
    const bool lasts = !can_be_stopped(view, candidate.job) &&
                       candidate.minutes[std::max<int>(candidate.size, 0)] > kLastingMin;
    const int largest = awarded && !lasts ? candidate.size : kSizeCount - 1;
    Rooms::Option option;
    if (!rooms_.find(candidate, largest, awarded || lasts, restore, option)) return false;
    return rooms_.take(option, candidate, restore, decision);
  }

  static bool can_be_stopped(const View& view, JobIndex job) {
    return view.preemption() == Preemption::kCheckpoint && view.job(job).preemptible;
  }

  SmartmigKnobs knobs_;
  double energy_weight_;
  double price_;
  double unit_ = 1;  // Minutes are so many minutes long.
  double energy_ =
      1;  // What a watt-minute is worth, as a multiple of what it is on the papers' day.
  Demand demand_;
  Award award_;
  Packing packing_;
  Rooms rooms_;

  std::vector<Candidate> candidates_;
  std::vector<Ranked> ranked_;
  std::vector<JobIndex> order_;                // Of a queue.
  std::vector<GpuIndex> gpus_;                 // Up, by board.
  std::vector<std::vector<GpuIndex>> others_;  // By board: up, with a layout that is not wanted.
  std::vector<std::array<KindIndex, kSizeCount>> base_kinds_;  // By board.
  std::vector<std::vector<std::uint32_t>> wanted_;             // Bins, by kind.
  std::vector<std::pair<GpuIndex, std::uint32_t>> filled_;     // GPUs and their bins.
  std::vector<Rooms::Stoppable> stoppable_;
};

}  // namespace

std::unique_ptr<Partitioner> make_prices(const SmartmigKnobs& knobs, const Fleet& fleet,
                                         double energy_weight, double price) {
  return std::make_unique<Prices>(knobs, fleet, energy_weight, price);
}

}  // namespace smartmig
