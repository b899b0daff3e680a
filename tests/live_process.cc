// The controller as a process that is told what to do by lines, for tests that kill it:
//
//   submit KEY WORK_S DEADLINE_S  ->  201 ID | 200 ID | STATUS error
//   standing                      ->  RECOVERED FROZEN TROUBLE, 1 or 0 for the first two
//   check                         ->  ok | how the controller and the hardware differ
//   left                          ->  how many jobs are not over
//   layout GPU                    ->  LAYOUT TARGET STATE, and how many slices are not ready
//
// The other lines are commands, answered with ok or STATUS error:
//
//   cancel ID, freeze, unfreeze, recover, adopt GPU, cordon GPU, drain GPU, uncordon GPU,
//   apply GPU LAYOUT
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <thread>

#include "base/text.h"
#include "live_fixture.h"

namespace smartmig {
namespace {

std::string told(const Answer<Outcome>& answer) {
  return answer ? "ok" : fmt::format("{} {}", answer.error().status, answer.error().error);
}

std::string carry_out(Controller& controller, const std::vector<std::string>& words) {
  Command command;
  if (words[0] == "freeze") command.kind = Command::Kind::kFreeze;
  if (words[0] == "unfreeze") command.kind = Command::Kind::kUnfreeze;
  if (words[0] == "recover") command.kind = Command::Kind::kRecover;
  if (words[0] == "adopt") command.kind = Command::Kind::kAdopt;
  if (words[0] == "cordon") command.kind = Command::Kind::kCordon;
  if (words[0] == "drain") command.kind = Command::Kind::kDrain;
  if (words[0] == "uncordon") command.kind = Command::Kind::kUncordon;
  if (words.size() > 1) command.gpu = words[1];
  if (words[0] == "apply") {
    command.kind = Command::Kind::kApply;
    command.gpu.clear();
    command.layouts = {{words[1], words[2]}};
  }
  return told(controller.command(command, "test"));
}

std::string answer(Controller& controller, SimulatedDriver& watcher,
                   const std::vector<std::string>& words) {
  if (words[0] == "submit") {
    const auto done = controller.submit(
        job_of(*parse_number(words[2]), *parse_number(words[3]), words[1]), "test");
    return done ? fmt::format("{} {}", done->created ? 201 : 200, done->id)
                : fmt::format("{} {}", done.error().status, done.error().error);
  }
  if (words[0] == "cancel") {
    const auto done = controller.cancel(*parse_integer(words[1]), "test", "");
    return done ? "ok" : fmt::format("{} {}", done.error().status, done.error().error);
  }
  if (words[0] == "left") {
    const FleetSummary seen = controller.summary();
    return std::to_string(seen.queued + seen.running);
  }
  if (words[0] == "standing") {
    const FleetSummary seen = controller.summary();
    return fmt::format("{:d} {:d} {}", seen.recovered, seen.frozen, seen.trouble);
  }
  if (words[0] == "layout") {
    const GpuView gpu = *controller.gpu(words[1]);
    const auto not_ready =
        std::count_if(gpu.slices.begin(), gpu.slices.end(),
                      [](const SliceView& slice) { return slice.state != "ready"; });
    return fmt::format("{} {} {} {}", gpu.layout, gpu.target, gpu.state, not_ready);
  }
  if (words[0] == "check") {
    std::string found = "not read";
    (void)wait_until([&] {
      const FleetView seen = *controller.look();
      const auto readings = watcher.read_all(static_cast<GpuIndex>(seen.gpus.size()));
      if (readings) found = difference(seen, *readings);
      return readings && found.empty();
    });
    return found.empty() ? "ok" : found;
  }
  return carry_out(controller, words);
}

}  // namespace

int serve_lines(const std::vector<std::string>& arguments) {
  ControllerOptions options;
  options.state_dir = arguments[0];
  options.setup.policy = arguments[2];
  options.version = "test";
  options.retry_first_s = 1;
  options.retry_most_s = 20;
  options.call_timeout_s = 5;
  options.rebase_events = 60;
  int left = static_cast<int>(*parse_integer(arguments[4]));
  const std::chrono::milliseconds linger(*parse_integer(arguments[5]));
  options.at = [&left, linger, point = arguments[3]](std::string_view here) {
    if (here != point || --left != 0) return;
    std::this_thread::sleep_for(linger);
    raise(SIGKILL);
  };
  auto controller = Controller::start(options, std::make_unique<SimulatedDriver>(arguments[1]));
  if (!controller) {
    std::fprintf(stderr, "%s\n", controller.error().message.c_str());
    return 2;
  }
  SimulatedDriver watcher(arguments[1]);
  std::string line;
  while (std::getline(std::cin, line)) {
    std::vector<std::string> words;
    for (const std::string_view word : split(line, ' ')) words.emplace_back(word);
    std::cout << answer(**controller, watcher, words) << std::endl;
  }
  return 0;
}

}  // namespace smartmig
