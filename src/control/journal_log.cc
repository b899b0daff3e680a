#include "control/journal_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace smartmig {
namespace {

// SQLite's "WAL-mode file format": a header of 32 bytes, then frames of 24 bytes and a page.
// Numbers are written highest byte first; the lowest bit of the magic says in which order checksums
// take theirs.
constexpr std::size_t kHeader = 32;
constexpr std::size_t kFrameHeader = 24;
constexpr std::uint32_t kMagic = 0x377f0682;

std::uint32_t number_at(std::string_view bytes, std::size_t at, bool high_first = true) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    const auto byte = static_cast<unsigned char>(bytes[at + (high_first ? i : 3 - i)]);
    number = number << 8 | byte;
  }
  return number;
}

struct Sums {
  std::uint32_t first = 0;
  std::uint32_t second = 0;

  bool operator==(const Sums&) const = default;
  void add(std::string_view bytes, bool high_first) {
    for (std::size_t at = 0; at + 8 <= bytes.size(); at += 8) {
      first += number_at(bytes, at, high_first) + second;
      second += number_at(bytes, at + 4, high_first) + first;
    }
  }
};

Sums sums_at(std::string_view bytes, std::size_t at) {
  return {number_at(bytes, at), number_at(bytes, at + 4)};
}

class Log {
 public:
  explicit Log(std::string_view bytes) : bytes_(bytes) {
    high_first_ = (number_at(bytes, 0) & 1) != 0;
    page_ = number_at(bytes, 8);
  }

  bool header_holds() const {
    const bool power_of_two = page_ >= 512 && page_ <= 65536 && (page_ & (page_ - 1)) == 0;
    Sums sums;
    sums.add(bytes_.substr(0, 24), high_first_);
    return (number_at(bytes_, 0) & ~1u) == kMagic && power_of_two && sums == sums_at(bytes_, 24);
  }
  std::size_t frames() const { return (bytes_.size() - kHeader) / (kFrameHeader + page_); }
  // Written since the log was last begun anew; those from before have another salt.
  bool is_present(std::size_t frame) const {
    return frame_at(frame).substr(8, 8) == bytes_.substr(16, 8);
  }
  bool is_commit(std::size_t frame) const { return number_at(frame_at(frame), 4) != 0; }
  // Whether its checksum follows from the one that its predecessor carries.
  bool follows(std::size_t frame) const {
    const std::string_view bytes = frame_at(frame);
    Sums sums = frame == 0 ? sums_at(bytes_, 24) : sums_at(frame_at(frame - 1), 16);
    sums.add(bytes.substr(0, 8), high_first_);
    sums.add(bytes.substr(kFrameHeader), high_first_);
    return is_present(frame) && sums == sums_at(bytes, 16);
  }

 private:
  std::string_view frame_at(std::size_t frame) const {
    return bytes_.substr(kHeader + frame * (kFrameHeader + page_), kFrameHeader + page_);
  }

  std::string_view bytes_;
  bool high_first_ = false;
  std::size_t page_ = 0;
};

}  // namespace

std::string log_damage(std::string_view bytes) {
  if (bytes.size() < kHeader) return {};
  // Room that was made in the file and never written.
  const auto head = bytes.substr(0, kHeader);
  if (std::all_of(head.begin(), head.end(), [](char byte) { return byte == 0; })) return {};
  const Log log(bytes);
  // The header lies in one sector and is synced before any frame is written: it is never torn.
  if (!log.header_holds()) return "its header is damaged";
  std::size_t bad = 0;
  while (bad < log.frames() && log.follows(bad)) ++bad;
  bool whole = false;
  for (std::size_t frame = bad + 1; frame < log.frames(); ++frame) {
    if (whole && log.is_present(frame)) return fmt::format("its frame {} is damaged", bad + 1);
    whole = whole || (log.is_commit(frame) && log.follows(frame));
  }
  return {};
}

}  // namespace smartmig
