// The loop of a fleet's process: one thread that takes lines from sockets to a FleetService and its
// answers back, and sleeps while there is neither.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/result.h"
#include "drivers/simulated/fleet_service.h"
#include "drivers/simulated/fleet_socket.h"

namespace smartmig {

class FleetServer {
 public:
  // `listener` does not block; anything to read from `stop` ends run().
  FleetServer(FleetService& service, const Descriptor& listener, const Descriptor& stop)
      : service_(&service), listener_(&listener), stop_(&stop) {}

  Result<void> run();

 private:
  struct Peer {
    Descriptor socket;
    std::string in;   // Not yet whole lines.
    std::string out;  // Not yet sent.
    bool gone = false;
  };
  using Peers = std::map<FleetService::Client, Peer>;

  void accept_all();
  void receive(Peer& peer);
  void serve_line(FleetService::Client client, Peer& peer);
  void deliver_answers();
  void send(Peer& peer);
  void drop_gone();

  FleetService* service_;
  const Descriptor* listener_;
  const Descriptor* stop_;
  Peers peers_;
  FleetService::Client last_ = 0;
};

}  // namespace smartmig
