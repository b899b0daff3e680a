// Boards: what can be cut out of one GPU model, and what that costs. Read from data/boards.json (or
// a file of the same form); docs/formats/boards.md describes it. Values never change after loading,
// so any number of threads may read them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace smartmig {

// Compute sizes that a job table has times for (p1g_s .. p7g_s).
inline constexpr int kSizeCount = 5;
inline constexpr std::array<int, kSizeCount> kSizes = {1, 2, 3, 4, 7};
// 1,2,3,4,7 -> 0..4; -1 for anything else.
constexpr int size_index(int compute_slices) {
  return compute_slices >= 1 && compute_slices <= 4 ? compute_slices - 1
         : compute_slices == 7                      ? 4
                                                    : -1;
}

enum class ProfileKind : std::uint8_t {
  kBase,
  kMedia,
  kDoubleMemory,
  kGraphics,
  kMediaAll,
  kNoMedia
};

// A kind of GPU instance ("3g.20gb").
struct Profile {
  std::string name;
  int id = 0;  // NVML's profile id; names change with the driver, ids do not.
  ProfileKind kind = ProfileKind::kBase;
  int compute_slices = 0;
  int memory_slices = 0;  // Width of a placement.
  std::int32_t memory_mib = 0;
  bool memory_assumed = false;  // Not captured from a board: nominal size.
  int sms = 0;
  int max_count = 0;
  std::array<int, 4> engines{};  // decoders, encoders, jpeg, ofa
  int copy_engines = 0;          // 0: not known.
  std::vector<int> starts;       // Legal first memory slices, ascending.
};

// One legal placement of one profile. At most 64 on a board, so that a set of slots is one word.
struct Slot {
  std::uint8_t profile = 0;  // Index into Board::profiles.
  std::uint8_t start = 0;
  std::uint8_t width = 0;
};

// A set of slots: bit i is Board::slots[i]. What a GPU looks like, or should.
using SlotSet = std::uint64_t;

// Board power by busy compute slices, and the idle levels of the `real` setting.
struct BoardPower {
  std::vector<double> busy_w;    // compute_slices + 1 values; [0] is idle without a process.
  double context_idle_w = 0;     // A process holds a context, nothing runs.
  TimeUs context_linger_us = 0;  // How long that level lasts after the last process ends.
  // `real` on boards measured job by job: context idle + the running jobs' own watts, to the cap.
  bool additive = false;
  double cap_w = 0;
  double job_scale = 1;    // Times those watts.
  double limit_w = 0;      // What boards come with.
  double min_limit_w = 0;  // What an operator may set; 0 where not known.
  double max_limit_w = 0;
  bool assumed = false;  // A100's shape scaled to this board's limit; not measured.
  std::string source;
  std::string note;
};

// Seconds to create and destroy a slice, by compute size (index as kSizes); `real` setting.
struct BoardTimes {
  std::array<TimeUs, kSizeCount> create_us{};
  std::array<TimeUs, kSizeCount> destroy_us{};
  bool assumed = false;
  std::string source;
};

// From the surest to the least sure; kGiven: the user gave the factor, which overrides the data.
enum class SpeedConfidence : std::uint8_t { kMeasured, kDerived, kAssumed, kGiven };

// The board whose slices the times of a job table are for, unless a run says otherwise.
inline constexpr const char* kTimesBoard = "A100-40GB";

// How many times as fast as on a slice of kTimesBoard a job runs on a slice of the same compute
// size. A size that the board does not have is as the next smaller one.
struct BoardSpeed {
  std::array<double, kSizeCount> factor{1, 1, 1, 1, 1};
  SpeedConfidence confidence = SpeedConfidence::kAssumed;
  std::string source;
  std::string note;
};

// What the live controller must know of switching MIG mode.
struct MigMode {
  bool toggle_needs_reset = true;
  bool survives_reboot = false;
  bool instances_survive_reboot = false;
};

struct Board {
  std::string name;
  std::vector<std::string> aliases;
  std::vector<std::string> pci_ids;  // "0x20B010DE": device, then vendor, as NVML's pciDeviceId.
  std::string architecture;
  int compute_slices = 0;
  int memory_slices = 0;
  int max_instances = 0;
  int memory_gb = 0;
  int sms = 0;                         // With MIG on.
  std::array<int, 4> engines_total{};  // -1: not known, not checked.
  std::vector<Profile> profiles;       // By compute slices, base profiles first among equals.
  std::vector<Slot> slots;             // By profile, then start.
  std::vector<SlotSet> conflicts;  // For each slot, those that overlap or exclude it, itself too.
  std::vector<SlotSet> profile_slots;  // For each profile, its slots.
  // Profiles in the order of layout names: most compute slices first, then most memory slices.
  std::vector<std::uint8_t> largest_first;
  BoardPower power;
  BoardTimes times;
  BoardSpeed speed;
  MigMode mig_mode;
  std::vector<std::string> rules;  // In words; those that can be enforced are in `conflicts`.
  std::string confidence;          // How sure the geometry is, in the words of the data file.
  std::string source;              // Of the geometry.
  std::string note;

  // The base profile of that compute size, or -1.
  int base_profile(int compute_slices) const;
  int largest_profile() const;  // The base profile with the most compute slices.
};

class BoardTable {
 public:
  // The shipped boards; loaded once, then shared.
  static const BoardTable& shipped();
  // Parses a boards file; `name` is for error lines.
  static Result<BoardTable> parse(std::string_view json, const std::string& name);

  // By name or alias, ignoring case; the error suggests the nearest. Valid while the table lives.
  Result<const Board*> find(std::string_view name) const;
  const std::vector<Board>& boards() const { return boards_; }

 private:
  std::vector<Board> boards_;
};

}  // namespace smartmig
