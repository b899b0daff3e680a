#include "study/run_shapes.h"

#include <algorithm>
#include <cmath>

namespace smartmig {
namespace {

void add_tardiness(RunShapes& shapes, const Engine& engine) {
  std::array<TimeUs, RunShapes::kLateBins> limits_us{};
  for (std::size_t bin = 1; bin < limits_us.size(); ++bin)
    limits_us[bin] = to_us(RunShapes::late_limit_s(bin));
  limits_us.back() = kNever;
  for (JobIndex job = 0; job < shapes.jobs; ++job) {
    const TimeUs late =
        std::max<TimeUs>(0, engine.finish_us()[job] - engine.state().job_state(job).deadline_us);
    const auto bin = std::lower_bound(limits_us.begin(), limits_us.end(), late);
    ++shapes.late_jobs[static_cast<std::size_t>(bin - limits_us.begin())];
  }
}

void add_energy(RunShapes& shapes, const Engine& engine) {
  const GpuIndex gpus = engine.state().fleet().gpu_count();
  std::vector<PowerRecord> last(gpus);
  shapes.gpu_energy_j.assign(gpus, 0);
  const auto account = [&](const PowerRecord& record) {
    PowerRecord& before = last[record.gpu];
    shapes.gpu_energy_j[record.gpu] += before.watts * to_s(record.at_us - before.at_us);
    before = record;
  };
  for (const PowerRecord& record : engine.records()->power()) account(record);
  for (GpuIndex gpu = 0; gpu < gpus; ++gpu) account({engine.charged_end_us(), gpu, 0});

  const auto energy_j = engine.state().power().job_energy_j();
  for (JobIndex job = 0; job < shapes.jobs; ++job) {
    (engine.jobs().jobs[job].kind == JobKind::kTraining ? shapes.training_j : shapes.inference_j) +=
        energy_j[job];
  }
  const double all_j = engine.energy_j();
  shapes.idle_j = std::max(0.0, all_j - shapes.training_j - shapes.inference_j);
}

// Adds the stretch to the hours it covers.
void add_hours(std::array<TimeUs, 24>& hours, TimeUs from, TimeUs to) {
  while (from < to) {
    // Times before 0 (a deadline may be, a submit is not) would need floors.
    const TimeUs hour = from / kHourUs;
    const TimeUs end = std::min(to, (hour + 1) * kHourUs);
    hours[static_cast<std::size_t>(hour % 24)] += end - from;
    from = end;
  }
}

void add_layouts(RunShapes& shapes, const Engine& engine) {
  const Fleet& fleet = engine.state().fleet();
  struct Since {
    TimeUs at_us = 0;
    std::array<TimeUs, 24>* hours = nullptr;
  };
  std::vector<Since> since(fleet.gpu_count());
  // Names are made once for each set, not for each of the many records.
  std::map<std::pair<std::uint8_t, SlotSet>, std::array<TimeUs, 24>*> named;
  const auto hours_of = [&](const LayoutRecord& record) {
    if (!record.up) return &shapes.layout_us["failed"];
    auto& hours = named[{fleet.board_index(record.gpu), record.target}];
    if (!hours) hours = &shapes.layout_us[layout_name(fleet.board(record.gpu), record.target)];
    return hours;
  };
  for (const LayoutRecord& record : engine.records()->layouts()) {
    Since& before = since[record.gpu];
    if (before.hours) add_hours(*before.hours, before.at_us, record.at_us);
    before = {record.at_us, hours_of(record)};
  }
  for (const Since& last : since) {
    if (last.hours) add_hours(*last.hours, last.at_us, engine.charged_end_us());
  }
  std::erase_if(shapes.layout_us, [](const auto& entry) {
    return std::all_of(entry.second.begin(), entry.second.end(), [](TimeUs us) { return us == 0; });
  });
}

}  // namespace

double RunShapes::late_limit_s(std::size_t bin) {
  return bin == 0 ? 0 : std::pow(10, (static_cast<double>(bin) - 1) / 10 - 1);
}

void RunShapes::add(const RunShapes& other) {
  jobs += other.jobs;
  for (std::size_t bin = 0; bin < late_jobs.size(); ++bin) late_jobs[bin] += other.late_jobs[bin];
  gpu_energy_j.resize(std::max(gpu_energy_j.size(), other.gpu_energy_j.size()), 0);
  for (std::size_t gpu = 0; gpu < other.gpu_energy_j.size(); ++gpu)
    gpu_energy_j[gpu] += other.gpu_energy_j[gpu];
  inference_j += other.inference_j;
  training_j += other.training_j;
  idle_j += other.idle_j;
  for (const auto& [name, hours] : other.layout_us) {
    auto& sum = layout_us[name];
    for (std::size_t hour = 0; hour < 24; ++hour) sum[hour] += hours[hour];
  }
}

RunShapes shapes_of(const Engine& engine) {
  SM_CHECK(engine.records().has_value());
  RunShapes shapes;
  shapes.jobs = engine.jobs().jobs.size();
  add_tardiness(shapes, engine);
  add_energy(shapes, engine);
  add_layouts(shapes, engine);
  return shapes;
}

}  // namespace smartmig
