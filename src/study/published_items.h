// The published numbers as data (data/published.json, docs/formats/reproduction.md): for each table
// or figure the runs that make ours, and what the paper says of each number.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "study/knee.h"

namespace smartmig {

// Where a number of ours comes from.
enum class PublishedKind {
  kCompare,   // A comparison of policies, by the words of `smartmig compare`.
  kGeometry,  // What a board can be cut into.
  kSpeeds,    // Profiles of the catalogue.
  kJobs       // Days of the papers' generator.
};

struct PublishedRow {
  std::string what;
  std::string unit;
  std::optional<double> theirs;  // Nothing: the paper does not state it.
  double error = 0;              // Of reading `theirs` off a plot, or of its last digit.
  std::string of;                // Which value of the run, see reproduce.cc.
  std::size_t policy = 0;        // Of the run, from 0.
  bool median = false;           // Else the mean.
  double scale = 1;              // To the unit.
  std::string why;               // Of a difference; empty: unexplained.
};

struct PublishedRun {
  PublishedKind kind = PublishedKind::kCompare;
  std::string about;  // The setting in a few words, before each of its rows.
  std::string args;   // Of the command, without the number of days.
  int days = 1;
  int quick_days = 1;
  std::string why;  // Of rows that have none of their own.
  std::vector<PublishedRow> rows;
};

// A bend along the points that several runs make, in the plane of energy and tardiness.
struct PublishedKnee {
  std::string what;
  std::string unit;
  std::vector<std::size_t> runs;
  std::vector<double> values;      // What grows along the curve; one for each run.
  std::vector<PlanePoint> theirs;  // One for each run.
  std::string why;
};

struct PublishedItem {
  std::string name;
  std::string title;
  std::string source;
  std::string text;  // What is compared, and what had to be assumed.
  std::vector<PublishedRun> runs;
  std::vector<PublishedKnee> knees;
  bool ranking = false;  // Say where the order of the first run's policies changes.
};

Result<std::vector<PublishedItem>> parse_published(std::string_view json, const std::string& name);
// The shipped ones; read once.
const std::vector<PublishedItem>& published_items();

}  // namespace smartmig
