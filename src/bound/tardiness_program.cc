#include "bound/tardiness_program.h"

#include <fmt/format.h>

#include <Cbc_C_Interface.h>
#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>

#include "bound/makespan.h"

namespace smartmig {
namespace {

struct FreeModel {
  void operator()(Cbc_Model* model) const { Cbc_deleteModel(model); }
};

// One row or column at a time is all the program needs of the library.
class Program {
 public:
  Program() : model_(Cbc_newModel()) { Cbc_setLogLevel(model_.get(), 0); }

  int add_column(double low, double high, double cost, bool whole) {
    Cbc_addCol(model_.get(), "", low, high, cost, whole, 0, nullptr, nullptr);
    return Cbc_getNumCols(model_.get()) - 1;
  }
  void add_row(const std::vector<int>& columns, const std::vector<double>& values, char sense,
               double right) {
    Cbc_addRow(model_.get(), "", static_cast<int>(columns.size()), columns.data(), values.data(),
               sense, right);
  }
  void set(const char* name, const std::string& value) {
    Cbc_setParameter(model_.get(), name, value.c_str());
  }
  // Whether it was solved, to the gap.
  bool solve() {
    Cbc_solve(model_.get());
    return Cbc_isProvenOptimal(model_.get());
  }
  double bound() const { return Cbc_getBestPossibleObjValue(model_.get()); }

 private:
  std::unique_ptr<Cbc_Model, FreeModel> model_;
};

// An end that no schedule that always works when it can will pass.
double latest_end_s(std::span<const MachineJob> jobs, int machines) {
  double sum_s = 0;
  double longest_s = 0;
  for (const MachineJob& job : jobs) {
    sum_s += job.work_s;
    longest_s = std::max(longest_s, job.work_s);
  }
  return jobs.back().release_s + sum_s / machines + longest_s;
}

}  // namespace

ProgramBound solve_tardiness_program(const BoundInput& input, const ProgramOptions& options) {
  ProgramBound result;
  if (input.jobs.size() > options.most_jobs || options.limit_s <= 0) return result;
  const std::vector<MachineJob> jobs = linearise(input);
  const auto machines = static_cast<int>(input.fleet->gpu_count());
  const double horizon_s = latest_end_s(jobs, machines);
  const double step_s = options.step_s > 0 ? options.step_s : horizon_s / 60;
  constexpr double kMostSteps = 5000;
  if (!(horizon_s / step_s <= kMostSteps)) return result;
  const int steps = static_cast<int>(std::ceil(horizon_s / step_s));
  result.step_s = step_s;

  // Cbc keeps its command line in globals: one program at a time.
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  Program program;
  std::vector<std::vector<int>> in_step(steps);  // The columns of work done in each.
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    const MachineJob& job = jobs[j];
    const double due_s = to_s(input.jobs[j].deadline_us - input.begin_us());
    std::vector<int> work;
    std::vector<double> ones;
    int last_open = -1;
    for (int t = 0; t < steps; ++t) {
      const double begin_s = t * step_s;
      const double end_s = begin_s + step_s;
      const double room_s = std::min(step_s, end_s - job.release_s);
      if (room_s > 0) {
        work.push_back(program.add_column(0, room_s, 0, false));
        ones.push_back(1);
        in_step[t].push_back(work.back());
      }
      // Not done by the end of this step: it ends later, so all of the step past the deadline is
      // late.
      const double late_s = std::max(0.0, end_s - std::max(begin_s, due_s));
      const bool may_be_done = job.release_s + job.work_s <= end_s + 1e-9;
      const bool must_be_done = t + 1 == steps;
      const int open =
          program.add_column(may_be_done ? 0 : 1, must_be_done ? 0 : 1, late_s, may_be_done);
      if (may_be_done) {
        std::vector<int> columns = work;
        std::vector<double> values = ones;
        columns.push_back(open);
        values.push_back(job.work_s);
        program.add_row(columns, values, 'G', job.work_s);
        if (last_open >= 0) program.add_row({last_open, open}, {1, -1}, 'G', 0);
        last_open = open;
      }
    }
  }
  for (const std::vector<int>& columns : in_step) {
    program.add_row(columns, std::vector<double>(columns.size(), 1), 'L', machines * step_s);
  }
  program.set("log", "0");
  program.set("sec", fmt::format("{}", options.limit_s));
  program.set("ratioGap", fmt::format("{}", options.gap));
  result.tried = true;
  result.solved = program.solve();
  result.proven_s = std::max(0.0, program.bound()) / static_cast<double>(jobs.size());
  if (result.solved) result.avg_tardiness_s = result.proven_s;
  return result;
}

}  // namespace smartmig
