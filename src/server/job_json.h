// A job as JSON, and what is expected of those that wait or run.
#pragma once

#include <span>
#include <unordered_map>

#include "server/backend.h"
#include "server/json_writer.h"

namespace smartmig {

struct JobOutlook {
  TimeUs start_us = -1;  // -1: not known.
  TimeUs end_us = -1;
  int gpu_index = -1;         // Of a job that has a slice; -1: not known.
  std::string slice_profile;  // "3g.20gb"
};
using JobOutlooks = std::unordered_map<JobNumber, JobOutlook>;

// Of those rows that are not finished. Jobs far back in a long queue have none.
JobOutlooks outlooks(const Backend& backend, std::span<const JobRow> rows);

// As an object of its own, or the fields of the one that is open.
void write_job(JsonWriter& json, const JobRow& row, const JobOutlooks& outlooks);
void write_job_fields(JsonWriter& json, const JobRow& row, const JobOutlooks& outlooks);

}  // namespace smartmig
