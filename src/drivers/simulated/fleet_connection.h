// A client's end of the fleet's protocol: one call at a time, each a line there and a line back.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "control/driver.h"
#include "drivers/simulated/fleet_socket.h"

namespace smartmig {

tl::unexpected<DriverError> unreachable(std::string message);

class FleetConnection {
 public:
  static DriverResult<std::unique_ptr<FleetConnection>> open(const std::string& state);

  // `fields` is the request without its braces: `"op":"read","gpu":3`. The answer's `ok`, or its
  // error; kUnreachable where there was no answer, and then the connection is of no more use.
  DriverResult<nlohmann::json> call(std::string_view fields);
  // Whether the other end has gone, as far as is known without asking it.
  bool is_dead() const;
  // Ends a call() under way on another thread.
  void hang_up();

 private:
  explicit FleetConnection(Descriptor socket) : socket_(std::move(socket)) {}
  bool send(std::string_view bytes);
  bool receive_line();

  Descriptor socket_;
  std::string in_;  // The line received, its end excluded.
  std::int64_t last_ = 0;
};

}  // namespace smartmig
