// Replay: feeds the events of a journal to a fresh model and compares every decision with what was
// decided then. Nothing is taken from the journal but events; decisions are only compared.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "control/journal.h"

namespace smartmig {

struct ReplayReport {
  std::int64_t events = 0;
  std::int64_t rounds = 0;
  std::int64_t decisions = 0;  // Rounds in which something was decided.
  std::int64_t begins = 0;     // Starts of a controller.
  // The first difference, in one line; nothing where all decisions came out again.
  std::optional<std::string> difference;
};

// An error: the journal cannot be read, or has no start of a controller.
Result<ReplayReport> replay(JournalReader& journal,
                            const std::function<void(const ReplayReport&)>& progress = {});

}  // namespace smartmig
