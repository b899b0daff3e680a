#include "fleet/fleet.h"

#include <algorithm>
#include <bit>
#include <filesystem>

#include "base/file.h"
#include "base/text.h"

namespace smartmig {
namespace {

constexpr std::int64_t kMaxGpus = 4'000'000;

// One term, "4xA100-40GB" or "A100-40GB", added to `gpus`.
Result<void> add_term(std::string_view term, const BoardTable& boards,
                      std::vector<const Board*>& gpus) {
  std::int64_t count = 1;
  std::string_view name = term;
  const std::size_t x = term.find('x');
  if (x != std::string_view::npos) {
    if (const auto number = parse_integer(term.substr(0, x))) {
      count = *number;
      name = term.substr(x + 1);
    }
  }
  if (count < 1) return fail("fleet: found '{}', expected at least one GPU", term);
  if (count > kMaxGpus - static_cast<std::int64_t>(gpus.size())) {
    return fail("fleet: found '{}', expected at most {} GPUs", term, kMaxGpus);
  }
  const auto board = boards.find(name);
  if (!board) return tl::unexpected<Error>(Error{"fleet: " + board.error().message});
  gpus.insert(gpus.end(), static_cast<std::size_t>(count), *board);
  return {};
}

// Neighbours of one board are one term. `board_of` gives the name of a GPU's board.
template <class BoardOf>
std::string spec_of(std::size_t gpus, BoardOf board_of) {
  std::string text;
  for (std::size_t i = 0; i < gpus;) {
    std::size_t end = i;
    while (end < gpus && board_of(end) == board_of(i)) ++end;
    text += fmt::format("{}{}x{}", text.empty() ? "" : "+", end - i, board_of(i));
    i = end;
  }
  return text;
}

}  // namespace

Result<Fleet> Fleet::parse(std::string_view spec, const BoardTable& boards) {
  std::vector<const Board*> gpus;
  if (spec.empty()) return fail("fleet: is empty, expected for example 8xA100-40GB");
  std::string text;
  const std::string path(spec);
  std::error_code ignored;
  const bool looks_like_path = spec.find('/') != std::string_view::npos || spec.ends_with(".fleet");
  char separator = '+';
  if (looks_like_path || std::filesystem::is_regular_file(path, ignored)) {
    auto bytes = read_file(path, kDocumentLimits);
    if (!bytes) return pass_on(bytes);
    text = std::move(*bytes);
    separator = '\n';
  } else {
    text = path;
  }
  std::size_t line = 0;
  for (std::string_view term : split(text, separator)) {
    ++line;
    if (separator == '\n') {
      term = trim(term.substr(0, term.find('#')));
      if (term.empty()) continue;
    }
    if (auto added = add_term(term, boards, gpus); !added) {
      if (separator == '+') return pass_on(added);
      return fail("{}:{}: {}", path, line, added.error().message);
    }
  }
  return make(std::move(gpus));
}

Result<Fleet> Fleet::make(std::vector<const Board*> gpus) {
  if (gpus.empty()) return fail("fleet: has no GPUs, expected at least one");
  Fleet fleet;
  int stride = 8;
  for (const Board* board : gpus) {
    auto at = std::find(fleet.boards_.begin(), fleet.boards_.end(), board);
    if (at == fleet.boards_.end()) at = fleet.boards_.insert(at, board);
    fleet.gpu_board_.push_back(static_cast<std::uint8_t>(at - fleet.boards_.begin()));
    fleet.compute_slices_ += board->compute_slices;
    stride = std::max(stride, board->memory_slices);
  }
  fleet.stride_ = std::bit_ceil(static_cast<std::uint32_t>(stride));
  fleet.stride_bits_ = static_cast<std::uint32_t>(std::countr_zero(fleet.stride_));
  for (std::size_t b = 0; b < fleet.boards_.size(); ++b) {
    const Board& board = *fleet.boards_[b];
    std::array<KindIndex, 64> slots;
    slots.fill(kNoKind);
    for (std::size_t p = 0; p < board.profiles.size(); ++p) {
      const Profile& profile = board.profiles[p];
      // Media and graphics variants compute like their base profile; jobs here ask for compute and
      // memory only.
      if (profile.kind != ProfileKind::kBase && profile.kind != ProfileKind::kDoubleMemory)
        continue;
      if (fleet.kinds_.size() == kMaxKinds)
        return fail("fleet: over {} kinds of slices, use fewer boards", kMaxKinds);
      const int size = size_index(profile.compute_slices);
      SM_CHECK(size >= 0);
      SliceKind kind;
      kind.board = static_cast<std::uint8_t>(b);
      kind.profile = static_cast<std::uint8_t>(p);
      kind.size = static_cast<std::uint8_t>(size);
      kind.compute = static_cast<std::uint8_t>(profile.compute_slices);
      kind.base = profile.kind == ProfileKind::kBase;
      kind.memory_mib = profile.memory_mib;
      kind.time_factor = 1 / board.speed.factor[size];
      fleet.largest_size_ = std::max(fleet.largest_size_, size);
      for (std::size_t s = 0; s < board.slots.size(); ++s) {
        if (board.slots[s].profile == p) slots[s] = static_cast<KindIndex>(fleet.kinds_.size());
      }
      fleet.kinds_.push_back(kind);
    }
    fleet.slot_kind_.push_back(slots);
  }
  fleet.find_twins();
  return fleet;
}

void Fleet::find_twins() {
  twins_.clear();
  for (const SliceKind& kind : kinds_) {
    KindSet twins = 0;
    for (std::size_t k = 0; k < kinds_.size(); ++k) {
      const SliceKind& other = kinds_[k];
      const bool same = other.size == kind.size && other.time_factor == kind.time_factor;
      twins |= static_cast<KindSet>(same) << k;
    }
    twins_.push_back(twins);
  }
}

Fleet Fleet::with_speeds(std::span<const BoardSpeed> speeds, const std::string& times_board) const {
  SM_CHECK(speeds.size() == boards_.size());
  Fleet fleet = *this;
  fleet.times_board_ = times_board;
  for (std::size_t b = 0; b < boards_.size(); ++b) {
    auto board = std::make_shared<Board>(*boards_[b]);
    board->speed = speeds[b];
    fleet.boards_[b] = board.get();
    fleet.own_boards_.push_back(std::move(board));
  }
  for (SliceKind& kind : fleet.kinds_) kind.time_factor = 1 / speeds[kind.board].factor[kind.size];
  fleet.find_twins();
  return fleet;
}

Fleet Fleet::subset(std::span<const GpuIndex> gpus) const {
  Fleet fleet = *this;
  fleet.gpu_board_.clear();
  fleet.compute_slices_ = 0;
  for (const GpuIndex gpu : gpus) {
    fleet.gpu_board_.push_back(gpu_board_[gpu]);
    fleet.compute_slices_ += board(gpu).compute_slices;
  }
  return fleet;
}

Fleet Fleet::with_power_scaled(double scale) const {
  Fleet fleet = *this;
  for (const Board*& board : fleet.boards_) {
    auto scaled = std::make_shared<Board>(*board);
    BoardPower& power = scaled->power;
    for (double& watts : power.busy_w) watts *= scale;
    for (double* watts : {&power.context_idle_w, &power.cap_w, &power.job_scale}) *watts *= scale;
    board = scaled.get();
    fleet.own_boards_.push_back(std::move(scaled));
  }
  return fleet;
}

bool Fleet::faster_by_index(const Job& job, KindSet kinds) const {
  int last = -1;
  for (KindSet rest = kinds; rest; rest &= rest - 1) {
    const int kind = std::countr_zero(rest);
    if (last >= 0 && !(twins_[last] >> kind & 1) &&
        full_us(job, static_cast<KindIndex>(kind)) >= full_us(job, static_cast<KindIndex>(last))) {
      return false;
    }
    last = kind;
  }
  return true;
}

std::array<double, kSizeCount> Fleet::best_times(const Job& job, KindSet kinds) const {
  std::array<double, kSizeCount> best{};
  for (KindSet rest = kinds; rest; rest &= rest - 1) {
    const auto k = static_cast<KindIndex>(std::countr_zero(rest));
    if (!kinds_[k].base) continue;
    const double time = full_us(job, k);
    double& slot = best[kinds_[k].size];
    if (slot == 0 || time < slot) slot = time;
  }
  return best;
}

std::string Fleet::name() const {
  return spec_of(gpu_board_.size(), [this](std::size_t gpu) -> const std::string& {
    return boards_[gpu_board_[gpu]]->name;
  });
}

std::string fleet_spec(std::span<const std::string> boards) {
  return spec_of(boards.size(),
                 [boards](std::size_t gpu) -> const std::string& { return boards[gpu]; });
}

Result<std::vector<SlotSet>> parse_layout_list(std::string_view text, const Fleet& fleet) {
  std::vector<SlotSet> list;
  const std::size_t gpus = fleet.gpu_count();
  for (std::string_view term : split(text, ',')) {
    std::int64_t times = 1;
    const std::size_t star = term.find('*');
    if (star != std::string_view::npos) {
      const auto number = parse_integer(term.substr(star + 1));
      if (!number || *number < 1) return fail("layouts: found '{}', expected LAYOUT*COUNT", term);
      times = *number;
      term = term.substr(0, star);
    }
    for (std::int64_t i = 0; i < times; ++i) {
      if (list.size() == gpus)
        return fail("layouts: more than the fleet's {} GPUs in '{}'", gpus, text);
      auto set = parse_layout(fleet.board(static_cast<GpuIndex>(list.size())), term);
      if (!set) return pass_on(set);
      for (SlotSet rest = *set; rest; rest &= rest - 1) {
        if (fleet.kind_of_slot(static_cast<GpuIndex>(list.size()), std::countr_zero(rest)) ==
            kNoKind) {
          return fail("layouts: found '{}', expected base or double-memory profiles only", term);
        }
      }
      list.push_back(*set);
    }
  }
  if (list.size() < gpus) {
    return fail(
        "layouts: {} given for {} GPUs in '{}', expected one for each (LAYOUT*COUNT repeats)",
        list.size(), gpus, text);
  }
  return list;
}

}  // namespace smartmig
