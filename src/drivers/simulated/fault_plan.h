// Faults on demand: which calls of the fleet's interface answer an error, late, or never. They are
// of the process, not of the fleet: they are forgotten when it ends.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fields.h"
#include "control/driver.h"

namespace smartmig {

// The calls that can be struck.
inline constexpr std::string_view kStrikable[] = {"create", "destroy", "start", "stop",
                                                  "kill",   "read",    "claim", "events"};

struct Fault {
  std::int64_t number = 0;         // To clear it by.
  std::string call;                // One of kStrikable; empty: any of them.
  GpuIndex gpu = kNone;            // Of that GPU alone; kNone: any.
  int nth = 1;                     // The n-th such call from now on is the first to be struck.
  int times = 1;                   // So many calls on end; 0: for ever.
  double delay_s = 0;              // Waits before anything is done ...
  bool fleet_time = false;         // ... on the fleet's clock, not the host's.
  std::optional<DriverCode> code;  // Answers this error.
  bool hang = false;               // Never answers.
  bool done = false;  // Where it answers an error or never: the work is done all the same.
};

class FaultPlan {
 public:
  std::int64_t add(Fault fault);  // Its number.
  // That one, or all; how many there were.
  std::size_t clear(std::optional<std::int64_t> number);
  const std::vector<Fault>& faults() const { return faults_; }
  // What strikes this call; counts it.
  std::optional<Fault> strike(std::string_view call, GpuIndex gpu);

 private:
  std::vector<Fault> faults_;  // nth and times count down.
  std::int64_t last_ = 0;
};

Fault read_fault(const JsonFields& fields);
void write_fault(const Fault& fault, std::string& out);

}  // namespace smartmig
