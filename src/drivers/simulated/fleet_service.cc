#include "drivers/simulated/fleet_service.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace smartmig {
namespace {

using Call = FleetRequest::Call;
using Kind = FleetChange::Kind;

// Faults of their own kind answer this way.
DriverError told_error(const Fault& fault) {
  return {*fault.code, fmt::format("told to fail (fault {})", fault.number)};
}

GpuIndex struck_gpu(const FleetRequest& request) {
  const bool has_gpu = request.call == Call::kRead || request.call == Call::kChange;
  return has_gpu ? request.change.gpu : kNone;
}

}  // namespace

void FleetService::receive(Client client, std::string_view line, std::int64_t now_ns) {
  store_.advance(now_ns);
  const auto request = parse_request(line);
  if (!request) {
    refuse(client, {}, {DriverCode::kUnknown, request.error().message});
    return;
  }
  std::optional<Fault> fault;
  if (const auto name = strikable_name(*request); !name.empty())
    fault = faults_.strike(name, struck_gpu(*request));
  if (fault && fault->delay_s > 0) {
    Waiting waiting{.what = Waiting::For::kDelay, .request = *request, .fault = fault, .uuid = {}};
    if (fault->fleet_time) {
      waiting.until_us = store_.machine().now() + to_us(fault->delay_s);
    } else {
      waiting.until_ns = now_ns + std::llround(fault->delay_s * 1e9);
    }
    wait(client, std::move(waiting));
  } else {
    handle(client, *request, fault, now_ns);
  }
  advance(now_ns);
}

void FleetService::handle(Client client, const FleetRequest& request,
                          const std::optional<Fault>& fault, std::int64_t now_ns) {
  if (fault && !fault->done) {
    if (fault->hang) {
      wait(client, {.request = request, .fault = fault, .uuid = {}});
      return;
    }
    if (fault->code) {
      refuse(client, request, told_error(*fault));
      return;
    }
  }
  if (request.call == Call::kChange) {
    change(client, request, fault);
    return;
  }
  // The others have no effect worth keeping apart from their answer, but for a claim.
  if (request.call == Call::kClaim) claim(client, request);
  if (fault && (fault->hang || fault->code)) {
    if (request.call == Call::kClaim) answers_.pop_back();
    if (fault->hang) {
      wait(client, {.request = request, .fault = fault, .uuid = {}});
    } else {
      refuse(client, request, told_error(*fault));
    }
    return;
  }
  switch (request.call) {
    case Call::kChange:
    case Call::kClaim:
      break;
    case Call::kDescribe:
      succeed(client, request, description());
      break;
    case Call::kRead:
      if (const auto text = reading(request.change.gpu)) {
        succeed(client, request, *text);
      } else {
        refuse(client, request, text.error());
      }
      break;
    case Call::kReadAll:
      succeed(client, request, readings());
      break;
    case Call::kEvents:
      answer_events(client, request, now_ns);
      break;
    case Call::kInject:
      succeed(client, request, fmt::format("{{\"number\":{}}}", faults_.add(request.fault)));
      break;
    case Call::kBehave:
      succeed(client, request, fmt::format("{{\"number\":{}}}", behaviours_.add(request.rule)));
      break;
    case Call::kClear:
      succeed(client, request, fmt::format("{{\"cleared\":{}}}", clear(request)));
      break;
    case Call::kList:
      succeed(client, request, list());
      break;
    case Call::kAudit:
      succeed(client, request, runs(request.after, request.limit));
      break;
    case Call::kSnapshot: {
      std::string text;
      store_.machine().save(text);
      succeed(client, request, text);
      break;
    }
  }
}

// Calls that hang stay so: nothing wakes such a call.
std::size_t FleetService::clear(const FleetRequest& request) {
  const bool all = !request.clear_fault && !request.clear_rule;
  std::size_t cleared = 0;
  if (all || request.clear_fault) cleared += faults_.clear(request.clear_fault);
  if (all || request.clear_rule) cleared += behaviours_.clear(request.clear_rule);
  return cleared;
}

// --- claims

bool FleetService::holds_claim(const FleetRequest& request) const {
  return holder_ && request.epoch != 0 && request.epoch == store_.machine().epoch();
}

DriverResult<void> FleetService::check_order(const FleetRequest& request) const {
  if (!is_order(request.change.kind) || holds_claim(request)) return {};
  if (request.epoch == 0)
    return tl::unexpected(DriverError{DriverCode::kNoPermission, "an order needs a claim"});
  if (request.epoch == store_.machine().epoch())
    return tl::unexpected(
        DriverError{DriverCode::kUnreachable, "the connection of the claim is gone"});
  return tl::unexpected(
      DriverError{DriverCode::kSuperseded, "another controller has claimed the fleet since"});
}

void FleetService::claim(Client client, const FleetRequest& request) {
  if (holder_ && *holder_ != client) {
    refuse(client, request,
           {DriverCode::kInUse, fmt::format("the fleet is claimed by {}", owner_)});
    return;
  }
  if (request.resume == 0) {
    if (auto done = store_.apply({.kind = Kind::kClaim}); !done) {
      refuse(client, request, done.error());
      return;
    }
  } else if (request.resume != store_.machine().epoch()) {
    refuse(client, request,
           {DriverCode::kSuperseded, "another controller has claimed the fleet since"});
    return;
  }
  holder_ = client;
  owner_ = request.owner;
  supersede_waiting();
  succeed(client, request, description());
}

void FleetService::supersede_waiting() {
  std::vector<Client> superseded;
  for (const auto& [client, waiting] : waiting_) {
    if (waiting.request.call == Call::kChange && !holds_claim(waiting.request))
      superseded.push_back(client);
  }
  for (const Client client : superseded) {
    const Waiting waiting = std::move(waiting_.extract(client).mapped());
    if (waiting.what == Waiting::For::kDone)
      static_cast<void>(store_.apply({.kind = Kind::kAbandon, .gpu = waiting.request.change.gpu}));
    refuse(client, waiting.request, check_order(waiting.request).error());
  }
}

void FleetService::closed(Client client, std::int64_t now_ns) {
  store_.advance(now_ns);
  if (holder_ == client) {
    holder_.reset();
    owner_.clear();
  }
  const auto found = waiting_.find(client);
  if (found == waiting_.end()) return;
  // What has begun goes on, and somebody should hear of its end.
  if (found->second.what == Waiting::For::kDone)
    static_cast<void>(
        store_.apply({.kind = Kind::kAbandon, .gpu = found->second.request.change.gpu}));
  waiting_.erase(found);
}

// --- orders, and what others do

void FleetService::change(Client client, const FleetRequest& request,
                          const std::optional<Fault>& fault) {
  if (auto allowed = check_order(request); !allowed) {
    refuse(client, request, allowed.error());
    return;
  }
  FleetChange change = request.change;
  const bool starts = change.kind == Kind::kStart;
  if (starts) change.behaviour = behaviours_.of(change.order.run);
  const auto done = store_.apply(change);
  if (starts && done) behaviours_.used(change.order.run);
  if (fault && fault->hang) {
    wait(client, {.request = request, .fault = fault, .uuid = {}});
    return;
  }
  if (!done) {
    refuse(client, request, done.error());
    return;
  }
  const bool takes_time = change.kind == Kind::kCreate || change.kind == Kind::kDestroy;
  Waiting waiting{.what = Waiting::For::kDone,
                  .request = request,
                  .fault = fault,
                  .until_us = takes_time ? done->at_us : store_.machine().now(),
                  .uuid = done->uuid};
  if (waiting.until_us <= store_.machine().now()) {
    finish_operation(client, waiting);
  } else {
    wait(client, std::move(waiting));
  }
}

void FleetService::finish_operation(Client client, const Waiting& waiting) {
  const FleetRequest& request = waiting.request;
  if (waiting.fault && waiting.fault->code) {
    refuse(client, request, told_error(*waiting.fault));
    return;
  }
  const bool creates = !waiting.uuid.empty();
  if (creates && !store_.machine().has_slice(request.change.gpu, waiting.uuid)) {
    refuse(client, request,
           {DriverCode::kGpuLost,
            fmt::format("GPU {} was reset or lost meanwhile", request.change.gpu)});
    return;
  }
  succeed(client, request, creates ? fmt::format("{{\"slice\":\"{}\"}}", waiting.uuid) : "{}");
}

// --- waiting

void FleetService::wait(Client client, Waiting waiting) {
  waiting_.insert_or_assign(client, std::move(waiting));
}

bool FleetService::is_over(const Waiting& waiting, std::int64_t now_ns) const {
  if (now_ns >= waiting.until_ns || store_.machine().now() >= waiting.until_us) return true;
  return waiting.what == Waiting::For::kEvent &&
         store_.machine().last_event() > waiting.request.after;
}

void FleetService::wake(Client client, std::int64_t now_ns) {
  const Waiting waiting = std::move(waiting_.extract(client).mapped());
  switch (waiting.what) {
    case Waiting::For::kDelay:
      handle(client, waiting.request, waiting.fault, now_ns);
      break;
    case Waiting::For::kDone:
      finish_operation(client, waiting);
      break;
    case Waiting::For::kEvent:
      send_events(client, waiting.request);
      break;
    case Waiting::For::kNothing:
      break;
  }
}

void FleetService::advance(std::int64_t now_ns) {
  store_.advance(now_ns);
  std::vector<Client> over;
  for (const auto& [client, waiting] : waiting_) {
    if (is_over(waiting, now_ns)) over.push_back(client);
  }
  for (const Client client : over) {
    // One that was woken before may have taken the fleet from it.
    if (waiting_.contains(client)) wake(client, now_ns);
  }
  if (now_ns - time_written_ns_ >= kSecondNs) {
    time_written_ns_ = now_ns;
    static_cast<void>(store_.apply({.kind = Kind::kTime}));
  }
}

std::int64_t FleetService::next_wake_ns() const {
  std::int64_t wake_ns = time_written_ns_ + kSecondNs;
  for (const auto& [client, waiting] : waiting_) {
    wake_ns = std::min({wake_ns, waiting.until_ns, store_.ns_of(waiting.until_us)});
    if (waiting.what == Waiting::For::kEvent)
      wake_ns = std::min(wake_ns, store_.ns_of(store_.machine().next_due()));
  }
  return wake_ns;
}

void FleetService::answer_events(Client client, const FleetRequest& request, std::int64_t now_ns) {
  if (holds_claim(request)) store_.forget_events(request.after);
  if (request.wait_ms == 0 || store_.machine().last_event() > request.after) {
    send_events(client, request);
    return;
  }
  wait(client, {.what = Waiting::For::kEvent,
                .request = request,
                .fault = std::nullopt,
                .until_ns = now_ns + std::int64_t{request.wait_ms} * 1'000'000,
                .uuid = {}});
}

}  // namespace smartmig
