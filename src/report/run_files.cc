#include "report/run_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "workload/decimal.h"

namespace smartmig {
namespace {

// Exact: whole microseconds as a decimal. A deadline that costs cut short may be below 0.
void add_seconds(std::string& out, TimeUs us) {
  if (us < 0) out += '-';
  append_seconds(out, us < 0 ? -us : us);
}

// Quoted where it must be (RFC 4180).
void add_text(std::string& out, const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) out.append(c == '"' ? 2 : 1, c);
  out += '"';
}

template <class... Args>
void add(std::string& out, fmt::format_string<Args...> format, Args&&... args) {
  fmt::format_to(std::back_inserter(out), format, std::forward<Args>(args)...);
}

}  // namespace

std::string jobs_csv(const Engine& engine) {
  const State& state = engine.state();
  const Fleet& fleet = state.fleet();
  const auto energy_j = state.power().job_energy_j();
  std::string out =
      "job_id,submission_time,starting_time,finish_time,waiting_time,turnaround_time,"
      "allocated_resources,consumed_energy,deadline,tardiness,slice\n";
  for (JobIndex job = 0; job < engine.jobs().jobs.size(); ++job) {
    const JobRecord& record = engine.records()->jobs()[job];
    const TimeUs submit = engine.jobs().jobs[job].submit_us;
    const TimeUs finish = engine.finish_us()[job];
    const TimeUs deadline = state.job_state(job).deadline_us;
    add_text(out, engine.jobs().id(job));
    for (const TimeUs time :
         {submit, record.first_start_us, finish, record.first_start_us - submit, finish - submit}) {
      out += ',';
      add_seconds(out, time);
    }
    const GpuIndex gpu = fleet.gpu_of(record.slice);
    add(out, ",{},{},", gpu, energy_j[job]);
    add_seconds(out, deadline);
    out += ',';
    add_seconds(out, std::max<TimeUs>(0, finish - deadline));
    const SliceKind& kind = fleet.kinds()[record.kind];
    add(out, ",gpu{}:{}@{}\n", gpu, fleet.board(gpu).profiles[kind.profile].name,
        fleet.start_of(record.slice));
  }
  return out;
}

std::string layouts_csv(const Engine& engine) {
  const Fleet& fleet = engine.state().fleet();
  std::string out = "time,gpu,layout,target,up\n";
  for (const LayoutRecord& record : engine.records()->layouts()) {
    const Board& board = fleet.board(record.gpu);
    add_seconds(out, record.at_us);
    add(out, ",{},{},{},{}\n", record.gpu, layout_name(board, record.ready),
        layout_name(board, record.target), record.up ? 1 : 0);
  }
  return out;
}

std::string energy_csv(const Engine& engine) {
  std::string out = "time,gpu,power_w\n";
  const auto add_row = [&](TimeUs at_us, GpuIndex gpu, double watts) {
    add_seconds(out, at_us);
    add(out, ",{},{}\n", gpu, watts);
  };
  std::vector<double> last(engine.state().fleet().gpu_count(), 0);
  for (const PowerRecord& record : engine.records()->power()) {
    add_row(record.at_us, record.gpu, record.watts);
    last[record.gpu] = record.watts;
  }
  // A last row for each GPU: its steps then span the run, and their integral is the energy.
  for (GpuIndex gpu = 0; gpu < last.size(); ++gpu) add_row(engine.charged_end_us(), gpu, last[gpu]);
  return out;
}

std::string timeline_csv(const Engine& engine) {
  std::string out = "time,utilisation,fragmentation,waiting,power_w\n";
  TimeUs time = engine.begin_us();
  for (const TimelineRecord& record : engine.records()->timeline()) {
    add_seconds(out, time);
    add(out, ",{},{},{},{}\n", record.utilisation, record.fragmentation, record.waiting,
        record.power_w);
    time += Records::kBinUs;
  }
  return out;
}

std::vector<OutputFile> run_files(const Engine& engine) {
  SM_CHECK(engine.records().has_value());
  return {{"jobs.csv", jobs_csv(engine)},
          {"layouts.csv", layouts_csv(engine)},
          {"energy.csv", energy_csv(engine)},
          {"timeline.csv", timeline_csv(engine)}};
}

}  // namespace smartmig
