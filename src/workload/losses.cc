#include "workload/losses.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace smartmig {
namespace {

struct ReasonWords {
  std::string_view text;
  std::string_view option;
};

// In the order of LossReason.
constexpr std::array<ReasonWords, 15> kWords = {{
    {"job step", ""},
    {"part of a checkpointed job", ""},
    {"no submit time", ""},
    {"not finished", ""},
    {"never scheduled", ""},
    {"no run time", ""},
    {"asks for shards, whose size sacct does not say", ""},
    {"asks for no GPU", ""},
    {"no processors", ""},
    {"not selected by --where", "--where"},
    {"asks for several GPUs", "--multi-gpu split or one"},
    {"GPUs beyond the first of a job", "--multi-gpu split"},
    {"a time over 1e10 s", ""},
    {"needs more memory than any slice of the fleet has", "--memory none or another --fleet"},
    {"has no time on any slice size of the fleet", "another --fleet"},
}};

}  // namespace

std::string_view to_string(LossReason reason) {
  return kWords[static_cast<std::size_t>(reason)].text;
}

std::string_view option_against(LossReason reason) {
  return kWords[static_cast<std::size_t>(reason)].option;
}

bool is_job(LossReason reason) {
  return reason != LossReason::kJobStep && reason != LossReason::kCheckpointPart;
}

bool has_gpu_hours(LossReason reason) {
  switch (reason) {
    case LossReason::kNotFinished:
    case LossReason::kNotSelected:
    case LossReason::kSeveralGpus:
    case LossReason::kFurtherGpus:
    case LossReason::kTooLong:
    case LossReason::kNoMemory:
    case LossReason::kNoSize:
      return true;
    default:
      return false;
  }
}

Amount& Amount::operator+=(const Amount& more) {
  rows += more.rows;
  jobs += more.jobs;
  gpu_hours += more.gpu_hours;
  return *this;
}

void Losses::add(LossReason reason, const Amount& amount) {
  const auto at = std::ranges::find(by_reason, reason, &Entry::reason);
  if (at != by_reason.end()) {
    at->amount += amount;
  } else {
    by_reason.push_back({reason, amount});
  }
}

Amount Losses::of(LossReason reason) const {
  const auto at = std::ranges::find(by_reason, reason, &Entry::reason);
  return at == by_reason.end() ? Amount() : at->amount;
}

Amount Losses::total() const {
  Amount sum;
  for (const Entry& entry : by_reason) sum += entry.amount;
  return sum;
}

std::string Losses::text() const {
  std::string text;
  for (const Entry& entry : by_reason) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", entry.amount.rows,
                        to_string(entry.reason));
  }
  return text.empty() ? "none" : text;
}

}  // namespace smartmig
