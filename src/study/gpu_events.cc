#include "study/gpu_events.h"

#include <algorithm>

#include "base/csv.h"
#include "base/file.h"
#include "base/text.h"

namespace smartmig {
namespace {

struct Row {
  GpuEvent event;
  std::size_t line = 0;
};

Result<Row> read_row(const CsvReader& csv, std::size_t time, std::size_t gpu, std::size_t event,
                     const Fleet& fleet) {
  const auto at_s = csv.number(time, 0, kMaxSeconds);
  if (!at_s) return pass_on(at_s);
  const auto index = parse_integer(csv.field(gpu));
  if (!index || *index < 0 || *index >= fleet.gpu_count()) {
    const auto expected = fmt::format("a GPU from 0 to {}", fleet.gpu_count() - 1);
    return tl::unexpected<Error>(csv.bad_field(gpu, expected));
  }
  const std::string_view word = csv.field(event);
  if (word != "fail" && word != "return")
    return tl::unexpected<Error>(csv.bad_field(event, "fail or return"));
  return Row{{to_us(*at_s), static_cast<GpuIndex>(*index), word == "fail"}, csv.line()};
}

}  // namespace

Result<std::vector<GpuEvent>> parse_gpu_events(std::string_view text, const std::string& name,
                                               const Fleet& fleet) {
  auto csv = CsvReader::open(text, name);
  if (!csv) return pass_on(csv);
  const auto time = csv->require("time_s");
  if (!time) return pass_on(time);
  const auto gpu = csv->require("gpu");
  if (!gpu) return pass_on(gpu);
  const auto event = csv->require("event");
  if (!event) return pass_on(event);
  std::vector<Row> rows;
  while (csv->next()) {
    const auto row = read_row(*csv, *time, *gpu, *event, fleet);
    if (!row) return pass_on(row);
    rows.push_back(*row);
  }
  if (csv->error()) return tl::unexpected<Error>(*csv->error());
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.event.at_us < b.event.at_us; });
  // A GPU that fails twice in a row is a mistake in the file, and to pass over it would hide it.
  std::vector<bool> down(fleet.gpu_count(), false);
  std::vector<GpuEvent> events;
  for (const Row& row : rows) {
    if (down[row.event.gpu] == row.event.fail) {
      return fail("{}:{}: event: GPU {} {} at {} s, but it is {} then", name, row.line,
                  row.event.gpu, row.event.fail ? "fails" : "returns", to_s(row.event.at_us),
                  row.event.fail ? "already down" : "up");
    }
    down[row.event.gpu] = row.event.fail;
    events.push_back(row.event);
  }
  return events;
}

Result<std::vector<GpuEvent>> read_gpu_events(const std::string& path, const Fleet& fleet) {
  const auto text = read_file(path, kDocumentLimits);
  if (!text) return pass_on(text);
  return parse_gpu_events(*text, path, fleet);
}

}  // namespace smartmig
