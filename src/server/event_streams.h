// The live events to all who listen. One thread fetches notices and writes them to every stream
// without ever waiting for one; a client that does not keep up is dropped when its share of memory
// is full, or when it has taken nothing for longest and the memory of all is full, and comes back
// with the number it has seen (Last-Event-ID). Notices of a twentieth of a second go out together:
// a thousand submissions a second to two hundred listeners are then four thousand writes, not two
// hundred thousand.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "server/backend.h"
#include "server/connection.h"

namespace smartmig {

// "id: 7\nevent: job\ndata: {...}\n\n"
void append_event(const Notice& notice, std::string& out);

class EventStreams {
 public:
  struct Limits {
    int streams = 512;
    int per_client = 64;
    std::size_t pending_bytes = 1 << 20;              // That wait to be sent on one stream, ...
    std::size_t total_bytes = std::size_t{32} << 20;  // ... and on all together.
    std::chrono::milliseconds heartbeat{15'000};
    // A stream ends after it: clients come back by themselves, and a session whose time is over, or
    // whoever may not listen any more, is refused then.
    std::chrono::milliseconds life{3'600'000};
  };

  EventStreams(Backend& backend, const Limits& limits);
  ~EventStreams();

  // Keeps a place for a stream; false: all are taken, or all that one client may have. An empty
  // name: a client that may have all. add() or cancel() follows, with the same name.
  bool reserve(const std::string& client);
  void cancel(const std::string& client);
  // The head of the answer has been written. `after`: the last notice that the client has, or that
  // there was when it asked.
  // `generation` is what generation() was before the client was asked who it is.
  void add(std::unique_ptr<Connection> connection, const std::string& client, std::uint64_t after,
           std::uint64_t generation);
  // Ends those of the generations so far, also where add() is still to come; clients come back by
  // themselves, and are asked again who they are.
  void close_all() { generation_.fetch_add(1); }
  std::uint64_t generation() const { return generation_; }
  // Bytes that wait to be sent, the most so far.
  std::size_t most_waiting() const { return most_waiting_; }

 private:
  using Clock = Connection::Clock;
  struct Stream {
    std::unique_ptr<Connection> connection;
    std::string client;
    std::uint64_t seen = 0;  // Notices up to this one are in `pending` or sent.
    std::string pending;
    Clock::time_point taken;  // When the client took something last.
    Clock::time_point next_beat, end;
    std::uint64_t generation = 0;
    bool ended = false;
  };
  void run();
  bool wait_for_streams();
  void take_in(std::vector<Stream>& arrived);
  std::string catch_up(Stream& stream);
  void publish();
  void deliver(Stream& stream, std::string_view text);
  void beat(Clock::time_point now);
  void flush(Stream& stream);
  void set_pending(Stream& stream, std::string pending);
  void end(Stream& stream);
  void drop_those_silent_longest();
  void drop_ended();
  void pace(Clock::time_point since);

  Backend& backend_;
  const Limits limits_;
  std::vector<Stream> streams_;  // Of the thread alone, like the next two.
  std::uint64_t position_ = 0;   // The last notice that was published.
  std::size_t waiting_ = 0;      // Bytes that are pending on all streams.
  std::atomic<std::uint64_t> generation_{0};
  std::atomic<std::size_t> most_waiting_{0};

  std::mutex mutex_;  // Guards all below.
  std::condition_variable changed_;
  std::vector<Stream> arrived_;
  int count_ = 0;                         // Reserved places, ...
  std::map<std::string, int> by_client_;  // ... and of clients that may not have all.
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace smartmig
