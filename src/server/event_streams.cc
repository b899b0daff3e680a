#include "server/event_streams.h"

#include <poll.h>

#include <algorithm>

namespace smartmig {
namespace {

using namespace std::chrono_literals;

constexpr auto kBatch = 50ms;
constexpr int kWaitMs = 200;  // For a notice; what else there is to do waits as long.
constexpr std::string_view kMissed = "event: missed\ndata: {\"kind\":\"missed\"}\n\n";
constexpr std::string_view kBeat = ": alive\n\n";

}  // namespace

void append_event(const Notice& notice, std::string& out) {
  fmt::format_to(std::back_inserter(out), "id: {}\nevent: {}\ndata: {}\n\n", notice.number,
                 notice.kind, notice.json);
}

EventStreams::EventStreams(Backend& backend, const Limits& limits)
    : backend_(backend), limits_(limits), thread_([this] { run(); }) {}

EventStreams::~EventStreams() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

bool EventStreams::reserve(const std::string& client) {
  const std::lock_guard lock(mutex_);
  if (count_ >= limits_.streams) return false;
  if (!client.empty()) {
    int& of_client = by_client_[client];
    if (of_client >= limits_.per_client) return false;
    ++of_client;
  }
  ++count_;
  return true;
}

void EventStreams::cancel(const std::string& client) {
  const std::lock_guard lock(mutex_);
  --count_;
  if (client.empty()) return;
  const auto at = by_client_.find(client);
  if (--at->second == 0) by_client_.erase(at);
}

void EventStreams::add(std::unique_ptr<Connection> connection, const std::string& client,
                       std::uint64_t after, std::uint64_t generation) {
  {
    const std::lock_guard lock(mutex_);
    const auto now = Clock::now();
    arrived_.push_back({std::move(connection), client, after, "", now, now + limits_.heartbeat,
                        now + limits_.life, generation});
  }
  changed_.notify_all();
}

void EventStreams::run() {
  while (wait_for_streams()) {
    const auto begin = Clock::now();
    publish();
    beat(Clock::now());
    for (Stream& stream : streams_) flush(stream);
    drop_ended();
    pace(begin);
  }
}

// Without a listener nothing is fetched: an idle server does nothing. False: it is to stop.
bool EventStreams::wait_for_streams() {
  std::vector<Stream> arrived;
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stopping_ || !arrived_.empty() || !streams_.empty(); });
    if (stopping_) return false;
    arrived.swap(arrived_);
  }
  take_in(arrived);
  return true;
}

void EventStreams::take_in(std::vector<Stream>& arrived) {
  if (streams_.empty()) position_ = backend_.last_notice();
  for (Stream& stream : arrived) {
    std::string behind = catch_up(stream);
    streams_.push_back(std::move(stream));
    set_pending(streams_.back(), std::move(behind));
    flush(streams_.back());
  }
}

// What happened since the notice that the client saw last, as text.
std::string EventStreams::catch_up(Stream& stream) {
  // A number of an earlier controller: whatever it had since is not known here.
  bool missed = stream.seen > backend_.last_notice();
  std::string text;
  if (!missed && stream.seen < position_) {
    for (const Notice& notice : backend_.notices_after(stream.seen, 0, missed)) {
      append_event(notice, text);
      stream.seen = notice.number;
    }
  }
  // More than it may be behind would be the end of it.
  if (!missed && text.size() <= limits_.pending_bytes / 2) return text;
  stream.seen = position_;
  return std::string(kMissed);
}

void EventStreams::publish() {
  bool missed = false;
  const auto notices = backend_.notices_after(position_, kWaitMs, missed);
  if (notices.empty() && !missed) return;
  // What is missed is given up, so that it is told once.
  const std::uint64_t reached = notices.empty() ? backend_.last_notice() : notices.back().number;
  // One text for all who are up to date, which is nearly everybody.
  std::string text(missed ? kMissed : std::string_view());
  for (const Notice& notice : notices) append_event(notice, text);
  for (Stream& stream : streams_) {
    if (stream.seen <= position_) {
      deliver(stream, text);
    } else {
      std::string rest;
      for (const Notice& notice : notices)
        if (notice.number > stream.seen) append_event(notice, rest);
      deliver(stream, rest);
    }
    stream.seen = std::max(stream.seen, reached);
  }
  position_ = reached;
}

void EventStreams::beat(Clock::time_point now) {
  for (Stream& stream : streams_) {
    if (now < stream.next_beat) continue;
    if (!stream.ended && stream.pending.empty()) set_pending(stream, std::string(kBeat));
    stream.next_beat = now + limits_.heartbeat;
  }
}

// Every change of what is pending goes through here, so that the sum is always known.
void EventStreams::set_pending(Stream& stream, std::string pending) {
  waiting_ = waiting_ - stream.pending.size() + pending.size();
  stream.pending = std::move(pending);
  if (waiting_ > limits_.total_bytes) drop_those_silent_longest();
  most_waiting_ = std::max(most_waiting_.load(), waiting_);
}

void EventStreams::end(Stream& stream) {
  stream.ended = true;
  set_pending(stream, std::string());
}

// What the connection takes at once is not copied: most keep up, and have nothing pending.
void EventStreams::deliver(Stream& stream, std::string_view text) {
  flush(stream);
  if (stream.ended || text.empty()) return;
  if (stream.pending.empty()) {
    const auto written = stream.connection->write_some(text);
    if (written.broken) return end(stream);
    if (written.bytes > 0) stream.taken = Clock::now();
    text.remove_prefix(written.bytes);
  }
  if (stream.pending.size() + text.size() > limits_.pending_bytes) return end(stream);
  if (!text.empty()) set_pending(stream, stream.pending + std::string(text));
}

void EventStreams::flush(Stream& stream) {
  if (stream.ended || stream.pending.empty()) return;
  const auto written = stream.connection->write_some(stream.pending);
  if (written.broken) return end(stream);
  if (written.bytes > 0) {
    stream.taken = Clock::now();
    set_pending(stream, stream.pending.substr(written.bytes));
  }
  if (stream.pending.size() > limits_.pending_bytes) end(stream);
}

void EventStreams::drop_those_silent_longest() {
  // Those with something pending first, of them the one that took something longest ago.
  const auto is_worse = [](const Stream& a, const Stream& b) {
    if (a.pending.empty() != b.pending.empty()) return b.pending.empty();
    return a.taken < b.taken;
  };
  while (waiting_ > limits_.total_bytes) {
    Stream& worst = *std::min_element(streams_.begin(), streams_.end(), is_worse);
    waiting_ -= worst.pending.size();
    std::string().swap(worst.pending);
    worst.ended = true;
  }
}

void EventStreams::drop_ended() {
  const auto now = Clock::now();
  for (Stream& stream : streams_)
    stream.ended = stream.ended || stream.generation != generation_ || now >= stream.end;
  std::vector<pollfd> items;
  items.reserve(streams_.size());
  for (const Stream& stream : streams_)
    items.push_back({stream.connection->socket(), POLLRDHUP, 0});
  if (poll(items.data(), items.size(), 0) > 0) {
    for (std::size_t i = 0; i < items.size(); ++i)
      if (items[i].revents != 0) streams_[i].ended = true;
  }
  for (Stream& stream : streams_) {
    if (!stream.ended) continue;
    end(stream);
    cancel(stream.client);
  }
  std::erase_if(streams_, [](const Stream& stream) { return stream.ended; });
}

void EventStreams::pace(Clock::time_point since) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, since + kBatch, [&] { return stopping_; });
}

}  // namespace smartmig
