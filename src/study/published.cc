#include "study/published.h"

namespace smartmig {

bool is_published_fleet(const Fleet& fleet) {
  return fleet.gpu_count() == 8 && fleet.boards().size() == 1 &&
         fleet.boards().front()->name == "A100-40GB";
}

std::vector<std::string> default_policies(const Fleet& fleet) {
  if (!is_published_fleet(fleet)) {
    return {"none/edf",   "none/slowest-on-time",     "count/edf",
            "count/cedf", "count/shortest-remaining", "greedy"};
  }
  const std::string published = std::string("static:") + kPublishedLayouts;
  return {published + "/cedf",
          published + "/edf",
          "none/edf",
          "static:7,4-3*4,3-2-2*3/cedf",
          "static:7,4-3*4,3-2-2*3/shortest-remaining",
          "greedy",
          "count/cedf"};
}

std::vector<std::string> one_gpu_policies() {
  return {"static:3-2-2/cedf", "day-night:5=3-2-2+19=4-3/cedf", "none/cedf",
          "count/cedf",        "count/shortest-remaining",      "greedy"};
}

}  // namespace smartmig
