#include "drivers/simulated/fleet_request.h"

#include "check.h"
#include "drivers/simulated/simulated_fleet.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace smartmig;
  const auto request = parse_request(as_text(data, size));
  check_error(request);
  if (!request || request->call != FleetRequest::Call::kChange) return 0;
  // What is taken can be written to the state file and read back as the same, and the machine does
  // or refuses it.
  std::string written = "{";
  write_change(request->change, written);
  written += '}';
  const auto again = parse_request(written);
  SM_CHECK(again.has_value());
  std::string twice = "{";
  write_change(again->change, twice);
  twice += '}';
  SM_CHECK(written == twice);
  SimulatedFleet machine(*Fleet::parse("2xA100-40GB"), "fuzz");
  machine.advance_to(kSecondUs);
  const auto slice = machine.apply({.kind = FleetChange::Kind::kForeignCreate, .slot = 0});
  FleetChange change = request->change;
  change.uuid = change.order.slice_uuid = slice->uuid;
  const auto done = machine.apply(change);
  SM_CHECK(done || !done.error().message.empty());
  machine.advance_to(kDayUs);
  return 0;
}
