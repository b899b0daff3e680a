#include "foresight/futures.h"

#include <algorithm>

namespace smartmig {
namespace {

// The job now takes `ratio` times what it was believed to take, and is believed to take the same.
void stretch(Job& job, double ratio) {
  if (ratio == 1) return;
  job.estimate_us = time_on_largest(job);
  for (TimeUs& us : job.time_us) {
    if (us > 0) us = State::whole_us(ratio * static_cast<double>(us));
  }
}

void end_runs_as_drawn(const Fleet& fleet, const JobTable& table, Standing& standing) {
  for (Standing::Run& run : standing.runs) {
    if (run.saves) continue;
    const KindIndex kind = fleet.kind_of_slot(run.gpu, run.slot);
    const double full = fleet.full_us(table.jobs[run.job], kind);
    run.end_us = run.begin_us + State::whole_us(standing.left[run.job] * full);
  }
}

// Arrivals at the distances of a stretch of recent ones, so that batches stay batches; each a job
// of its own draw.
void draw_arrivals(const View& view, double share, const FutureTerms& terms, Random& random,
                   const ErrorModel& errors, std::vector<Job>& jobs) {
  const JobIndex end = view.arrived();
  const auto recent = static_cast<JobIndex>(std::min<std::size_t>(terms.recent_jobs, end));
  if (recent < 2) return;
  const JobIndex first = end - recent;
  JobIndex at = first + 1 + static_cast<JobIndex>(random.below(recent - 1));
  TimeUs now = view.now();
  for (std::size_t drawn = 0; drawn < terms.arrivals;) {
    // A live fleet that was taken over has its jobs in another order.
    now += std::max<TimeUs>(0, view.job(at).submit_us - view.job(at - 1).submit_us);
    if (++at == end) at = first + 1;
    const auto like = first + static_cast<JobIndex>(random.below(recent));
    const bool in_sample = share == 1 || random.uniform() < share;
    if (!in_sample) continue;
    ++drawn;
    Job job = view.believed_job(like);
    job.deadline_us += now - job.submit_us;
    job.submit_us = now;
    stretch(job, errors.draw(job, 0, random));
    jobs.push_back(job);
  }
}

}  // namespace

void draw_future(const View& view, const FleetSample& sample, const Present& present,
                 const FutureTerms& terms, const ErrorModel& errors, Random& random,
                 Future& future) {
  std::vector<Job>& jobs = future.table.jobs;
  jobs.assign(present.jobs.begin(), present.jobs.end());
  future.standing = present.standing;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const double ratio = errors.draw(jobs[i], present.done[i], random);
    stretch(jobs[i], ratio);
    future.standing.left[i] = std::max(1 - present.done[i] / ratio, 1e-9);
  }
  end_runs_as_drawn(sample.fleet(), future.table, future.standing);
  draw_arrivals(view, sample.share(), terms, random, errors, jobs);
}

}  // namespace smartmig
