// Main of the tests of live fleets: the same program is the fleet's process, or a controller's,
// when it is told so.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>

#include <cstdlib>
#include <cstring>

#include "drivers/simulated/fleet_process.h"
#include "live_fixture.h"

namespace {

int serve_fleet(char** argv) {
  // A test that crashes or is killed leaves no fleet behind.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  smartmig::FleetProcessOptions options;
  options.state = argv[2];
  options.fleet = argv[3];
  options.speed = std::atof(argv[4]);
  options.shares.fail = options.shares.overrun = std::atof(argv[5]);
  const auto served = smartmig::run_simulated_fleet(options);
  if (!served) std::fprintf(stderr, "%s\n", served.error().message.c_str());
  return served ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const bool is_fleet = argc > 1 && std::strcmp(argv[1], "fleet") == 0;
  const bool is_controller = argc > 1 && std::strcmp(argv[1], "controller") == 0;
  // A child that took itself for the test would start children of its own.
  if ((is_fleet && argc != 6) || (is_controller && argc != 8)) return 2;
  if (is_fleet) return serve_fleet(argv);
  if (is_controller) return smartmig::serve_lines({argv + 2, argv + argc});
  signal(SIGPIPE, SIG_IGN);  // A controller that is dead says so by its answer.
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
