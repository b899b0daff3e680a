#include "server/web_files.h"

namespace smartmig {
namespace {

constexpr std::string_view kScript = "text/javascript; charset=utf-8";
constexpr std::string_view kStyle = "text/css; charset=utf-8";

constexpr WebFile kFiles[] = {
    {"icon.svg", "image/svg+xml"},
    {"report.css", kStyle},
    {"picture.css", kStyle},
    {"dashboard.css", kStyle},
    {"dashboard.js", kScript},
    {"dashboard_api.js", kScript},
    {"dashboard_decisions.js", kScript},
    {"dashboard_details.js", kScript},
    {"dashboard_gpu.js", kScript},
    {"dashboard_groups.js", kScript},
    {"dashboard_jobs.js", kScript},
    {"dashboard_live.js", kScript},
    {"dashboard_map.js", kScript},
    {"dashboard_overview.js", kScript},
    {"dashboard_page.js", kScript},
    {"dashboard_power.js", kScript},
    {"dashboard_sign_in.js", kScript},
    {"dashboard_submit.js", kScript},
    {"dashboard_units.js", kScript},
};

}  // namespace

std::span<const WebFile> web_files() { return kFiles; }

const WebFile* find_web_file(std::string_view name) {
  for (const WebFile& file : kFiles)
    if (file.name == name) return &file;
  return nullptr;
}

}  // namespace smartmig
