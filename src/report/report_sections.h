// The sections that a report of one run and one of several policies share. Private to this room.
#pragma once

#include <span>

#include "report/report_page.h"

namespace smartmig {

// Timelines, tardiness, energy, layouts, and the learning curve where there is one.
void add_picture_sections(Page& page, std::span<const PolicyPictures> pictures,
                          const ReportContext& context);
void add_notes(Page& page, const ReportContext& context);
// What of the file is simulated, and everything that was assumed.
void add_assumptions(Page& page, const ReportContext& context);

}  // namespace smartmig
