#include "report/trace_length.h"

#include <fmt/format.h>

#include "report/estimate_text.h"
#include "report/run_summary.h"

namespace smartmig {

std::string length_text(double length_s) { return number_text(length_s / 3600); }

std::string charged_text(double span_s, std::size_t runs) {
  return fmt::format(
      "The trace spans {} from its first to its last submit{}; a run's length is the time from the "
      "first submit to its own last completion. Each board is charged from the first submit to the "
      "later of the last submit and its own last completion.",
      human_time(span_s), runs > 1 ? ", in the mean of its days" : "");
}

}  // namespace smartmig
