#include "drivers/simulated/fault_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace smartmig {

std::int64_t FaultPlan::add(Fault fault) {
  fault.number = ++last_;
  faults_.push_back(std::move(fault));
  return last_;
}

std::size_t FaultPlan::clear(std::optional<std::int64_t> number) {
  return std::erase_if(faults_,
                       [&](const Fault& fault) { return !number || fault.number == *number; });
}

std::optional<Fault> FaultPlan::strike(std::string_view call, GpuIndex gpu) {
  std::optional<Fault> struck;
  for (Fault& fault : faults_) {
    if (!fault.call.empty() && fault.call != call) continue;
    if (fault.gpu != kNone && fault.gpu != gpu) continue;
    if (fault.nth > 1) {
      --fault.nth;
      continue;
    }
    if (struck) continue;  // The one told first goes first.
    struck = fault;
    if (fault.times > 0 && --fault.times == 0) fault.times = -1;
  }
  std::erase_if(faults_, [](const Fault& fault) { return fault.times < 0; });
  return struck;
}

Fault read_fault(const JsonFields& fields) {
  Fault fault;
  fault.call = fields.text("call", "");
  if (!fault.call.empty() &&
      std::find(std::begin(kStrikable), std::end(kStrikable), fault.call) == std::end(kStrikable))
    fields.report("call", fmt::format("found '{}', expected one of {}", fault.call,
                                      fmt::join(kStrikable, ", ")));
  if (fields.has("gpu")) fault.gpu = static_cast<GpuIndex>(fields.number("gpu", 0, 4e6));
  if (fields.has("nth")) fault.nth = fields.integer("nth", 1, 1'000'000'000);
  if (fields.has("times")) fault.times = fields.integer("times", 0, 1'000'000'000);
  fault.delay_s = fields.number("delay_s", 0, 1e9, 0);
  fault.fleet_time = fields.boolean("fleet_time", false);
  if (fields.has("code")) {
    const std::string name = fields.text("code");
    fault.code = driver_code(name);
    if (to_string(*fault.code) != name)
      fields.report("code", fmt::format("found '{}', expected a code such as in-use", name));
  }
  fault.hang = fields.boolean("hang", false);
  fault.done = fields.boolean("done", false);
  if (fault.hang && fault.code) fields.report("hang", "found together with code, expected one");
  if (!fault.hang && !fault.code && fault.delay_s == 0)
    fields.report("", "found none of code, delay_s and hang, expected at least one");
  return fault;
}

void write_fault(const Fault& fault, std::string& out) {
  const auto put = std::back_inserter(out);
  fmt::format_to(put, "{{\"number\":{},\"call\":\"{}\",\"nth\":{},\"times\":{},\"delay_s\":{}",
                 fault.number, fault.call, fault.nth, fault.times, fault.delay_s);
  if (fault.gpu != kNone) fmt::format_to(put, ",\"gpu\":{}", fault.gpu);
  if (fault.code) fmt::format_to(put, ",\"code\":\"{}\"", to_string(*fault.code));
  fmt::format_to(put, ",\"fleet_time\":{},\"hang\":{},\"done\":{}}}", fault.fleet_time, fault.hang,
                 fault.done);
}

}  // namespace smartmig
