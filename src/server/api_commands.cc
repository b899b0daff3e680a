// What operators ask for. Each takes ?dry_run=true, and then says what it would do.
#include "server/answers.h"
#include "server/command_body.h"
#include "server/query.h"

namespace smartmig {
namespace {

RouteAnswer do_command(Site& site, const Call& call, Command::Kind kind) {
  Query query(call.request.query, {"dry_run"});
  const bool dry_run = query.flag("dry_run", false);
  if (query.refusal()) return *query.refusal();
  auto command = parse_command(kind, call.argument, call.request.body);
  if (!command) return command.error();
  command->dry_run = dry_run;
  const auto outcome = site.backend.command(*command, call.caller.name);
  if (!outcome) return outcome.error();
  return lines_response(outcome->lines);
}

}  // namespace

using Kind = Command::Kind;

RouteAnswer do_apply(Site& site, const Call& call) { return do_command(site, call, Kind::kApply); }
RouteAnswer do_rollback(Site& site, const Call& call) {
  return do_command(site, call, Kind::kRollback);
}
RouteAnswer do_freeze(Site& site, const Call& call) {
  return do_command(site, call, Kind::kFreeze);
}
RouteAnswer do_unfreeze(Site& site, const Call& call) {
  return do_command(site, call, Kind::kUnfreeze);
}
RouteAnswer do_recover(Site& site, const Call& call) {
  return do_command(site, call, Kind::kRecover);
}
RouteAnswer do_power_cap(Site& site, const Call& call) {
  return do_command(site, call, Kind::kPowerCap);
}
RouteAnswer do_cordon(Site& site, const Call& call) {
  return do_command(site, call, Kind::kCordon);
}
RouteAnswer do_drain(Site& site, const Call& call) { return do_command(site, call, Kind::kDrain); }
RouteAnswer do_uncordon(Site& site, const Call& call) {
  return do_command(site, call, Kind::kUncordon);
}
RouteAnswer do_adopt(Site& site, const Call& call) { return do_command(site, call, Kind::kAdopt); }
RouteAnswer do_unhold(Site& site, const Call& call) {
  return do_command(site, call, Kind::kUnhold);
}

}  // namespace smartmig
