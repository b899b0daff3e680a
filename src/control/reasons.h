// Why, in words: a line for each stop, change and start of a round, made from what the policy saw.
#pragma once

#include <string>
#include <vector>

#include "control/controller.h"
#include "control/model.h"

namespace smartmig {

// The decision as the journal keeps it: {"stops": [job], "targets": [[gpu, from, to]], "starts":
// [[job, gpu, slot]]}.
std::string decision_text(const Round& round, const Model& model);

// Of a round that the model has just made. `names` has a name for each GPU.
Plan describe(const Round& round, const Model& model, const std::vector<std::string>& names);
// Its reasons, one a line; of large rounds the first few hundred.
std::string reasons_text(const Round& round, const Model& model,
                         const std::vector<std::string>& names);

std::string why_started(const Model& model, const Round::Placed& placed);
std::string why_changed(const Model& model, const Round& round, const Round::Target& target);
// Why a queued job waits.
std::vector<std::string> why_it_waits(const Model& model, JobIndex job);
// What became of one that is over.
std::vector<std::string> how_it_ended(const JobRow& job);

// "3 min 20 s", "1 h 5 min", "2 d 3 h".
std::string in_words(TimeUs time_us);

}  // namespace smartmig
