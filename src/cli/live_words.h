// Words for what the live controller's answers say: power, energy, lengths of time, alarms.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace smartmig {

std::string watts_in_words(double watts);    // "1250 W", "16.0 kW", "1.40 MW"
std::string energy_in_words(double joules);  // "12 Wh", "3.4 kWh", "1.2 MWh"
// As squeue writes it: "4:07", "1:02:03", "2-03:04:05"; a minus sign in front where it is past.
std::string clock_in_words(double seconds);

// The alarm that the modelled policy was better over the last day, with both values; "": none.
// `fleet` is the answer of GET fleet.
std::string modelled_alarm(const nlohmann::json& fleet);

}  // namespace smartmig
