#include "drivers/simulated/behaviour_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/random.h"

namespace smartmig {
namespace {

std::string_view job_of(std::string_view run) { return run.substr(0, run.find('.')); }

}  // namespace

std::int64_t BehaviourPlan::add(BehaviourRule rule) {
  rule.number = ++last_;
  rules_.push_back(std::move(rule));
  return last_;
}

std::size_t BehaviourPlan::clear(std::optional<std::int64_t> number) {
  return std::erase_if(
      rules_, [&](const BehaviourRule& rule) { return !number || rule.number == *number; });
}

bool BehaviourPlan::fits(const BehaviourRule& rule, std::string_view run) {
  if (!rule.run.empty()) return rule.run == run;
  return rule.job.empty() || rule.job == job_of(run);
}

RunBehaviour BehaviourPlan::of(std::string_view run) const {
  for (const BehaviourRule& rule : rules_) {
    if (fits(rule, run)) return rule.behaviour;
  }
  RunBehaviour behaviour;
  if (shares_.fail > 0) {
    Random random(shares_.seed, fmt::format("fail {}", run));
    if (random.uniform() < shares_.fail) behaviour.fail_at = random.uniform();
  }
  if (shares_.overrun > 0) {
    Random random(shares_.seed, fmt::format("overrun {}", job_of(run)));
    if (random.uniform() < shares_.overrun) behaviour.overrun = shares_.overrun_factor;
  }
  if (shares_.stubborn > 0) {
    Random random(shares_.seed, fmt::format("stubborn {}", job_of(run)));
    if (random.uniform() < shares_.stubborn) behaviour.ignore_stop_us = kNever;
  }
  return behaviour;
}

void BehaviourPlan::used(std::string_view run) {
  const auto rule = std::find_if(rules_.begin(), rules_.end(),
                                 [&](const BehaviourRule& other) { return fits(other, run); });
  if (rule == rules_.end() || rule->times == 0) return;
  if (--rule->times == 0) rules_.erase(rule);
}

BehaviourRule read_rule(const JsonFields& fields) {
  BehaviourRule rule;
  rule.run = fields.text("run", "");
  rule.job = fields.text("job", "");
  if (!rule.run.empty() && !rule.job.empty())
    fields.report("job", "found together with run, expected one");
  if (fields.has("times")) rule.times = fields.integer("times", 0, 1'000'000'000);
  rule.behaviour = read_behaviour(fields);
  return rule;
}

void write_rule(const BehaviourRule& rule, std::string& out) {
  fmt::format_to(std::back_inserter(out), "{{\"number\":{},\"times\":{},\"run\":", rule.number,
                 rule.times);
  write_json_text(rule.run, out);
  out += ",\"job\":";
  write_json_text(rule.job, out);
  out += ',';
  write_behaviour(rule.behaviour, out);
  out += '}';
}

}  // namespace smartmig
