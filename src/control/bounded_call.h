// A driver's call with an end, for threads that have to go on: at the start of a controller, and
// when it listens to the fleet. One that does not answer in time keeps a thread of its own, and the
// driver, until it does; what it says then is not heard.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <future>
#include <memory>
#include <thread>
#include <utility>

#include "control/driver.h"

namespace smartmig {

template <class Call>
auto bounded_call(const std::shared_ptr<Driver>& driver, double limit_s, Call call)
    -> decltype(call(*driver)) {
  auto promise = std::make_shared<std::promise<decltype(call(*driver))>>();
  auto answer = promise->get_future();
  std::thread([promise, driver, call = std::move(call)] {
    promise->set_value(call(*driver));
  }).detach();
  if (answer.wait_for(std::chrono::duration<double>(limit_s)) != std::future_status::ready)
    return tl::unexpected(
        DriverError{DriverCode::kTimeout, fmt::format("no answer for {:g} s", limit_s)});
  return answer.get();
}

}  // namespace smartmig
