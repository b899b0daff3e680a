// For tests of the journal: a folder that goes away, rows with every column at random, and the
// journal as plain maps in memory.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <string>

#include "base/random.h"
#include "control/journal.h"

namespace smartmig {

class TestFolder {
 public:
  // `in_memory`, where the machine has such a folder: for tests that write thousands of files.
  explicit TestFolder(bool in_memory = false) {
    const std::filesystem::path memory = "/dev/shm";
    const bool there = in_memory && ::access(memory.c_str(), W_OK | X_OK) == 0;
    const auto parent = there ? memory : std::filesystem::temp_directory_path();
    std::string pattern = (parent / "smartmig-journal-XXXXXX").string();
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    path_ = pattern;
  }
  ~TestFolder() { std::filesystem::remove_all(path_); }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  std::string path(const std::string& name = "state") const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

inline Journal must_open(const std::string& dir) {
  auto journal = Journal::open(dir);
  if (!journal) ADD_FAILURE() << journal.error().message;
  return std::move(journal.value());
}

// Text of up to `size` bytes, any byte among them.
inline std::string random_text(Random& random, std::size_t size) {
  std::string text;
  for (std::size_t left = random.below(size + 1); left > 0; --left) {
    text.push_back(static_cast<char>(random.bits()));
  }
  return text;
}

inline TimeUs random_time(Random& random) {
  return static_cast<TimeUs>(random.below(1'000'000)) - 1;
}

inline JobRow random_job(Random& random, std::int64_t number) {
  JobRow job;
  job.number = number;
  job.key = random.below(2) == 0 ? "" : "key" + std::to_string(number);
  job.owner = random.below(2) == 0 ? "alice" : "bob";
  job.body = random_text(random, 300);
  job.phase = static_cast<JobPhase>(random.below(7));
  job.submit_us = random_time(random);
  job.deadline_us = random_time(random);
  job.start_us = random_time(random);
  job.end_us = is_final(job.phase) ? random_time(random) : -1;
  job.left = random.uniform();
  job.attempt = static_cast<int>(random.below(5));
  job.gpu = random_text(random, 20);
  job.slice = random_text(random, 20);
  job.begin_us = random_time(random);
  job.lost_us = random_time(random);
  job.cancelled = random.below(2) == 0;
  job.note = random_text(random, 20);
  return job;
}

inline SliceRow random_slice(Random& random, int number) {
  return {"MIG-" + std::to_string(number), random_text(random, 20),
          static_cast<std::uint8_t>(random.below(256)), random_time(random)};
}

inline IntentRow random_intent(Random& random, std::int64_t number) {
  IntentRow intent;
  intent.number = number;
  intent.gpu = "GPU-" + std::to_string(random.below(3));
  intent.base = random.bits();
  intent.target = random.bits();
  intent.step = random_text(random, 10);
  intent.opened_us = random_time(random);
  if (random.below(2) == 0) {
    intent.closed_us = random_time(random) + 1;
    intent.outcome = "done";
  }
  return intent;
}

inline GpuRow random_gpu(Random& random, int number) {
  return {"GPU-" + std::to_string(number),
          random.below(2) == 0,
          random.below(2) == 0,
          random_text(random, 20),
          static_cast<int>(random.below(9)),
          random_time(random),
          random.bits()};
}

inline EventRow random_event(Random& random, std::int64_t number, std::size_t body = 200) {
  return {number, random_time(random), random_text(random, 8), random_text(random, body)};
}

inline DecisionRow random_decision(Random& random, std::int64_t number, std::size_t body = 200) {
  return {number, random_time(random), random_text(random, body), random_text(random, 50)};
}

inline AuditRow random_audit(Random& random, std::int64_t number) {
  return {number, random_time(random), random_time(random), random_text(random, 9),
          random_text(random, 50)};
}

// What a journal should hold.
struct JournalModel {
  std::map<std::int64_t, JobRow> jobs;
  std::map<std::string, SliceRow> slices;
  std::map<std::int64_t, IntentRow> intents;
  std::map<std::string, GpuRow> gpus;
  std::map<std::int64_t, EventRow> events;
  std::map<std::int64_t, DecisionRow> decisions;
  std::map<std::int64_t, AuditRow> audit;
  std::map<std::string, std::string> settings;

  bool operator==(const JournalModel&) const = default;
};

// Puts into both.
class BothJournals {
 public:
  BothJournals(Journal& journal, JournalModel& model) : journal_(journal), model_(model) {}

  void put(const JobRow& row) { journal_.put(row), model_.jobs[row.number] = row; }
  void put(const SliceRow& row) { journal_.put(row), model_.slices[row.uuid] = row; }
  void put(const IntentRow& row) { journal_.put(row), model_.intents[row.number] = row; }
  void put(const GpuRow& row) { journal_.put(row), model_.gpus[row.uuid] = row; }
  void put(const EventRow& row) { journal_.put(row), model_.events[row.number] = row; }
  void put(const DecisionRow& row) { journal_.put(row), model_.decisions[row.number] = row; }
  void put(const AuditRow& row) { journal_.put(row), model_.audit[row.number] = row; }
  void forget_slice(const std::string& uuid) {
    journal_.forget_slice(uuid), model_.slices.erase(uuid);
  }
  void set(const std::string& name, const std::string& value) {
    journal_.set_setting(name, value), model_.settings[name] = value;
  }

 private:
  Journal& journal_;
  JournalModel& model_;
};

// A few puts of any kind among `span` keys of each; events, decisions and audit rows have bodies of
// up to `body` bytes.
inline void put_at_random(Random& random, BothJournals& both, std::uint64_t span,
                          std::size_t body) {
  for (std::uint64_t left = 1 + random.below(8); left > 0; --left) {
    const auto number = static_cast<std::int64_t>(1 + random.below(span));
    const int small = static_cast<int>(number % 16);
    switch (random.below(9)) {
      case 0:
        both.put(random_slice(random, small));
        break;
      case 1:
        both.forget_slice("MIG-" + std::to_string(small));
        break;
      case 2:
        both.put(random_intent(random, number));
        break;
      case 3:
        both.put(random_gpu(random, small));
        break;
      case 4:
        both.put(random_event(random, number, body));
        break;
      case 5:
        both.put(random_decision(random, number, body));
        break;
      case 6:
        both.put(random_audit(random, number));
        break;
      case 7:
        both.set("name" + std::to_string(small), "=" + random_text(random, 9));
        break;
      default:
        both.put(random_job(random, number));
    }
  }
}

// Everything a reader and a writer answer, of a journal whose settings are among those of
// put_at_random. Failures to read are failures of the test.
template <class Rows, class Map, class Key>
void take_all(const Rows& rows, Map& map, Key key) {
  ASSERT_TRUE(rows.has_value()) << rows.error().message;
  for (const auto& row : *rows) map[row.*key] = row;
}

inline JournalModel everything_in(Journal& journal, JournalReader& reader) {
  JournalModel model;
  constexpr int kAll = 1 << 30;
  take_all(reader.jobs(std::nullopt, INT64_MIN, kAll), model.jobs, &JobRow::number);
  take_all(reader.intents("", 0, kAll), model.intents, &IntentRow::number);
  take_all(reader.decisions(0, kAll), model.decisions, &DecisionRow::number);
  take_all(reader.audit(0, kAll), model.audit, &AuditRow::number);
  const auto events = reader.each_event(INT64_MIN, [&model](const EventRow& event) {
    model.events[event.number] = event;
    return true;
  });
  EXPECT_TRUE(events.has_value()) << events.error().message;
  const auto state = journal.load();
  EXPECT_TRUE(state.has_value());
  // What indexes find is what is there.
  JournalState open;
  for (const auto& [number, job] : model.jobs) {
    if (!is_final(job.phase)) open.jobs.push_back(job);
    EXPECT_TRUE(job.key.empty() || reader.job_by_key(job.owner, job.key) == job);
  }
  for (const auto& [number, intent] : model.intents) {
    if (intent.closed_us == -1) open.intents.push_back(intent);
  }
  EXPECT_TRUE(state->jobs == open.jobs && state->intents == open.intents);
  for (const SliceRow& row : state->slices) model.slices[row.uuid] = row;
  for (const GpuRow& row : state->gpus) model.gpus[row.uuid] = row;
  for (int i = 0; i < 16; ++i) {
    const std::string name = "name" + std::to_string(i);
    const std::string value = journal.setting(name);
    EXPECT_EQ(reader.setting(name), value);
    if (!value.empty()) model.settings[name] = value;
  }
  return model;
}

}  // namespace smartmig
