// How a boards file becomes Boards. Private to this room; BoardTable::parse is the way in.
#pragma once

#include <map>
#include <string>

#include "base/json_fields.h"
#include "mig/board.h"

namespace smartmig {

using SourceTexts = std::map<std::string, std::string>;

// The texts behind the keys of a "sources" field, joined by "; ".
std::string read_sources(const JsonFields& fields, const SourceTexts& texts);

// Fills profiles, slots and conflicts. Needs the board's slices and engines.
void read_geometry(const JsonFields& fields, const SourceTexts& texts, Board& board);

// Fills power and times. Without a measured curve power.busy_w holds the idle power alone;
// scale_power then does the rest, once all boards are read.
void read_power(const JsonFields& fields, const SourceTexts& texts, Board& board);
void read_times(const JsonFields& fields, const SourceTexts& texts, Board& board);

// The shape of a measured curve between this board's idle power and its limit:
// P(b) = idle + (S(m*b/n) - S(0)) / (S(m) - S(0)) * (limit - idle), S the shape over m slices,
// linear in between.
void scale_power(const BoardPower& shape, Board& board);

}  // namespace smartmig
