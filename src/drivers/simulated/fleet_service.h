// Answers the requests of a simulated fleet's clients: claims, orders, readings, events, and what
// an operator or a test does to it. No sockets: lines come in by receive() and go out by
// take_answers(), and the time of the host's clock is passed in, so that tests need neither.
//
// A client has one call at a time; one that waits (for a slice to be made, for an event, for a
// fault that delays it or never lets it go) holds nothing else up.
//
// Invariants: 1. at most one connection has the claim; 2. an order is done only under the newest
// epoch, also one that waited when that began.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "drivers/simulated/fleet_request.h"
#include "drivers/simulated/fleet_store.h"

namespace smartmig {

class FleetService {
 public:
  using Client = std::uint64_t;

  FleetService(FleetStore store, const BehaviourShares& shares)
      : store_(std::move(store)), behaviours_(shares) {}

  // One line, without its end, of a client that waits for nothing.
  void receive(Client client, std::string_view line, std::int64_t now_ns);
  void closed(Client client, std::int64_t now_ns);
  // Lets time pass: what waited for it is answered.
  void advance(std::int64_t now_ns);
  bool is_waiting(Client client) const { return waiting_.contains(client); }
  // When advance() has something to do; the state file is told the time once a second.
  std::int64_t next_wake_ns() const;
  // Lines to send, with their ends.
  std::vector<std::pair<Client, std::string>> take_answers() { return std::move(answers_); }

  FleetStore& store() { return store_; }

 private:
  struct Waiting {
    enum class For : std::uint8_t { kDelay, kDone, kEvent, kNothing };
    For what = For::kNothing;
    FleetRequest request;
    std::optional<Fault> fault;
    std::int64_t until_ns = INT64_MAX;  // Of kDelay, kEvent.
    TimeUs until_us = kNever;           // Of kDelay on the fleet's clock, and of kDone.
    std::string uuid;                   // Of the slice made.
  };

  void handle(Client client, const FleetRequest& request, const std::optional<Fault>& fault,
              std::int64_t now_ns);
  void change(Client client, const FleetRequest& request, const std::optional<Fault>& fault);
  std::size_t clear(const FleetRequest& request);
  void claim(Client client, const FleetRequest& request);
  void supersede_waiting();
  void answer_events(Client client, const FleetRequest& request, std::int64_t now_ns);
  void send_events(Client client, const FleetRequest& request);
  void wait(Client client, Waiting waiting);
  void wake(Client client, std::int64_t now_ns);
  void finish_operation(Client client, const Waiting& waiting);
  bool is_over(const Waiting& waiting, std::int64_t now_ns) const;
  bool holds_claim(const FleetRequest& request) const;
  DriverResult<void> check_order(const FleetRequest& request) const;

  std::string description() const;
  DriverResult<std::string> reading(GpuIndex gpu) const;
  std::string readings() const;
  std::string list() const;
  std::string runs(std::uint64_t after, int limit) const;
  void succeed(Client client, const FleetRequest& request, std::string_view result);
  void refuse(Client client, const FleetRequest& request, const DriverError& error);

  FleetStore store_;
  FaultPlan faults_;
  BehaviourPlan behaviours_;
  std::optional<Client> holder_;
  std::string owner_;
  std::map<Client, Waiting> waiting_;
  std::vector<std::pair<Client, std::string>> answers_;
  std::int64_t time_written_ns_ = 0;
};

}  // namespace smartmig
