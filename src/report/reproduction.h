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
  };
  std::vector<Item> items;
  std::string command;  // That made all of it.
};

// One name and title a line.
std::string list_text(const std::vector<PublishedItem>& items);

std::string to_text(const Reproduction& reproduction);
std::string to_markdown(const Reproduction& reproduction);
// A list of all rows.
nlohmann::ordered_json to_json(const Reproduction& reproduction);

// reproduction.md and reproduction.json.
std::vector<OutputFile> reproduction_files(const Reproduction& reproduction);

}  // namespace smartmig
