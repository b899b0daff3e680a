#include "report/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/result.h"
#include "base/shipped.h"
#include "report/html.h"

namespace smartmig {
namespace {

template <class... Args>
void put(std::string& out, fmt::format_string<Args...> format, Args&&... args) {
  fmt::format_to(std::back_inserter(out), format, std::forward<Args>(args)...);
}

// "What ran on each slice" -> "what-ran-on-each-slice"
std::string id_of(std::string_view heading) {
  std::string id;
  for (const char c : heading) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    const bool capital = c >= 'A' && c <= 'Z';
    if (letter || capital) {
      id += static_cast<char>(capital ? c - 'A' + 'a' : c);
    } else if (!id.empty() && id.back() != '-') {
      id += '-';
    }
  }
  while (!id.empty() && id.back() == '-') id.pop_back();
  return id;
}

std::string table_head(const PageTable& table) {
  std::string out = "<thead><tr>";
  for (const PageTable::Column& column : table.columns) {
    put(out, "<th scope=\"col\"{}{}>{}</th>", column.number ? " class=\"number\"" : "",
        column.key.empty() ? "" : fmt::format(" data-key=\"{}\"", escaped(column.key)),
        escaped(column.head));
  }
  return out + "</tr></thead>";
}

// A policy or a command may be broken between its parts, not within one.
std::string unbroken_pieces(std::string_view text) {
  std::string out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find_first_of(",/ ", begin), text.size() - 1) + 1;
    put(out, "<span>{}</span><wbr>", escaped(text.substr(begin, end - begin)));
    begin = end;
  }
  return out;
}

// Text between backticks is code; one without its partner stays as it is.
std::string with_code(std::string_view text) {
  std::string out;
  while (true) {
    const std::size_t begin = text.find('`');
    const std::size_t end = begin == std::string_view::npos ? begin : text.find('`', begin + 1);
    if (end == std::string_view::npos) return out + escaped(text);
    put(out, "{}<code>{}</code>", escaped(text.substr(0, begin)),
        unbroken_pieces(text.substr(begin + 1, end - begin - 1)));
    text.remove_prefix(end + 1);
  }
}

std::string number_attribute(std::string_view name, const std::optional<double>& value) {
  return value ? fmt::format(" data-{}=\"{}\"", name, *value) : "";
}

std::string table_row(const PageTable& table, const std::vector<PageTable::Cell>& row) {
  SM_CHECK(row.size() == table.columns.size());
  std::string out = "<tr>";
  for (std::size_t c = 0; c < row.size(); ++c) {
    const PageTable::Cell& cell = row[c];
    put(out, "<{}{}{}{}{}>{}{}</{}>", c == 0 ? "th scope=\"row\"" : "td",
        table.columns[c].number ? " class=\"number\"" : "", number_attribute("value", cell.value),
        number_attribute("low95", cell.low95), number_attribute("high95", cell.high95),
        c == 0 ? unbroken_pieces(cell.text) : escaped(cell.text),
        cell.detail.empty() ? "" : fmt::format(" <small>{}</small>", escaped(cell.detail)),
        c == 0 ? "th" : "td");
  }
  return out + "</tr>\n";
}

}  // namespace

std::string script_safe(std::string json) {
  // Inside JSON text '<' stands in strings only, where its escape means the same.
  for (std::size_t at = 0; (at = json.find('<', at)) != std::string::npos; at += 6)
    json.replace(at, 1, "\\u003c");
  return json;
}

Page::Page(std::string title, std::string subtitle)
    : title_(std::move(title)), subtitle_(std::move(subtitle)) {}

void Page::summary(std::string_view text) { summary_ = text; }

void Page::close_section() {
  if (in_section_) body_ += "</section>\n";
  in_section_ = false;
}

void Page::open_row() { body_ += "<div class=\"row\">\n"; }
void Page::close_row() { body_ += "</div>\n"; }

void Page::section(std::string_view heading) {
  close_section();
  std::string id = id_of(heading);
  const auto taken = [&] {
    return std::any_of(contents_.begin(), contents_.end(),
                       [&](const Heading& other) { return other.id == id; });
  };
  while (id.empty() || taken()) id += "-again";
  contents_.push_back({id, std::string(heading)});
  put(body_, "<section aria-labelledby=\"{0}\">\n<h2 id=\"{0}\">{1}</h2>\n", contents_.back().id,
      escaped(heading));
  in_section_ = true;
}

void Page::subsection(std::string_view heading) { put(body_, "<h3>{}</h3>\n", escaped(heading)); }

void Page::paragraph(std::string_view text) { put(body_, "<p>{}</p>\n", with_code(text)); }

void Page::add(const PageTable& table) {
  put(body_, "<figure class=\"table\" data-name=\"{}\">\n<figcaption>{}</figcaption>\n",
      escaped(table.name), escaped(table.caption));
  // Wider than a phone: it scrolls in a box of its own, which the keyboard must reach.
  put(body_,
      "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{0}\"><table "
      "id=\"table-{1}\">{2}\n<tbody>\n",
      escaped(table.caption.empty() ? table.name : table.caption), escaped(table.name),
      table_head(table));
  for (const auto& row : table.rows) body_ += table_row(table, row);
  body_ += "</tbody></table></div>\n</figure>\n";
}

void Page::add_figure(const ChartText& text, const std::string& wide, const std::string& narrow) {
  put(body_,
      "<figure class=\"chart\" "
      "data-name=\"{}\">\n<figcaption><strong>{}</strong>{}{}</figcaption>\n",
      escaped(text.name), escaped(text.title), text.caption.empty() ? "" : " ",
      escaped(text.caption));
  if (narrow.empty()) {
    put(body_, "<div>{}</div>\n</figure>\n", wide);
  } else {
    put(body_, "<div class=\"wide\">{}</div>\n<div class=\"narrow\">{}</div>\n</figure>\n", wide,
        narrow);
  }
}

void Page::add(const PageWidget& widget) {
  const bool known = std::find(kinds_.begin(), kinds_.end(), widget.kind) != kinds_.end();
  if (!known) kinds_.push_back(widget.kind);
  put(body_,
      "<figure class=\"widget {1}\" data-name=\"{0}\" data-kind=\"{1}\" data-label=\"{2}\">\n"
      "<figcaption><strong>{2}</strong> {3}</figcaption>\n"
      "<div class=\"still scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{2}\">{4}</div>\n"
      "<script type=\"application/json\" class=\"widget-data\">{5}</script>\n</figure>\n",
      escaped(widget.name), escaped(widget.kind), escaped(widget.label), escaped(widget.caption),
      widget.still_svg, script_safe(widget.data));
}

void Page::data(std::string_view id, const nlohmann::ordered_json& json) {
  put(data_, "<script type=\"application/json\" id=\"{}\">{}</script>\n", escaped(id),
      script_safe(json.dump()));
}

void Page::origin(const PageOrigin& origin) {
  put(footer_,
      "<h2 id=\"origin\">Where these numbers come from</h2>\n<p>This command makes this page "
      "again, to the byte:</p>\n<pre tabindex=\"0\" "
      "aria-label=\"Command\"><code>{}</code></pre>\n<dl>\n<dt>version</dt><dd>smartmig {}</dd>\n",
      escaped(origin.command), escaped(origin.version));
  for (const PageOrigin::Fact& fact : origin.facts)
    put(footer_, "<dt>{}</dt><dd>{}</dd>\n", escaped(fact.what), escaped(fact.value));
  footer_ += "</dl>\n";
}

std::string Page::html() && {
  close_section();
  std::string out;
  put(out,
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{}</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>\n{}</style>\n"
      "<style id=\"picture-style\">\n{}</style>\n</head>\n<body>\n",
      escaped(title_), shipped_file("report.css"), shipped_file("picture.css"));
  put(out, "<header>\n<p class=\"brand\">{}</p>\n<h1>{}</h1>\n", escaped(subtitle_),
      escaped(title_));
  if (!summary_.empty()) put(out, "<p class=\"summary\">{}</p>\n", with_code(summary_));
  out += "</header>\n";
  if (contents_.size() > 2) {
    out += "<nav aria-label=\"Contents\"><ul>\n";
    for (const Heading& heading : contents_)
      put(out, "<li><a href=\"#{}\">{}</a></li>\n", heading.id, escaped(heading.text));
    out += "</ul></nav>\n";
  }
  put(out, "<main>\n{}</main>\n", body_);
  if (!footer_.empty()) put(out, "<footer>\n{}</footer>\n", footer_);
  out += data_;
  const auto add_script = [&](std::string_view text) { put(out, "<script>\n{}</script>\n", text); };
  add_script(shipped_file("report.js"));
  for (const std::string& kind : kinds_) {
    // What it is made of comes first.
    for (const ShippedFile& file : shipped_files()) {
      if (file.name.starts_with(kind + "_") && file.name.ends_with(".js")) add_script(file.bytes);
    }
    add_script(shipped_file(kind + ".js"));
  }
  out += "</body>\n</html>\n";
  return out;
}

}  // namespace smartmig
