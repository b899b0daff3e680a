// Published numbers beside ours, for a reader and for programs (docs/formats/reproduction.md).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "report/output_folder.h"
#include "study/reproduce.h"

namespace smartmig {

struct Reproduction {
  struct Item {
    const PublishedItem* item = nullptr;
    std::vector<ReproducedRow> rows;
    std::vector<ReproducedCurve> curves;
  };
  std::vector<Item> items;
  std::string command;  // That made all of it.
};

// What a page and a text both show of an item: its notes and commands in the order of their first
// row, each once; and of a row. A verdict names its note by number, or says that there is none.
std::vector<std::string> notes_of(const Reproduction::Item& item);
std::vector<std::string> commands_of(const Reproduction::Item& item);
std::string theirs_text(const ReproducedRow& row);
std::string ours_text(const ReproducedRow& row);
std::string verdict_text(const ReproducedRow& row, const std::vector<std::string>& notes);
long count_verdicts(const Reproduction::Item& item, Verdict verdict);
// "67 numbers agree, ..."
std::string counts_text(const Reproduction& reproduction);

// One name and title a line.
std::string list_text(const std::vector<PublishedItem>& items);

std::string to_text(const Reproduction& reproduction);
std::string to_markdown(const Reproduction& reproduction);
// A list of all rows.
nlohmann::ordered_json to_json(const Reproduction& reproduction);

// reproduction.md and reproduction.json.
std::vector<OutputFile> reproduction_files(const Reproduction& reproduction);

}  // namespace smartmig
