// Main of the tests of live fleets: the same program is the fleet's process when it is told so.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "drivers/simulated/fleet_process.h"

int main(int argc, char** argv) {
  if (argc == 5 && std::strcmp(argv[1], "fleet") == 0) {
    smartmig::FleetProcessOptions options;
    options.state = argv[2];
    options.fleet = argv[3];
    options.speed = std::atof(argv[4]);
    const auto served = smartmig::run_simulated_fleet(options);
    if (!served) std::fprintf(stderr, "%s\n", served.error().message.c_str());
    return served ? 0 : 1;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
