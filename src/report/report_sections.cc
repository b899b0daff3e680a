#include "report/report_sections.h"

#include "report/job_balance.h"

namespace smartmig {

void add_picture_sections(Page& page, std::span<const PolicyPictures> pictures,
                          const ReportContext& context) {
  std::vector<PolicyShapes> shapes;
  for (const PolicyPictures& policy : pictures) shapes.push_back(policy.shapes);

  page.section("Timeline");
  page.paragraph(
      "Every GPU is a band, as high as its memory; its slices are the boxes in it, and a job fills "
      "the slice it runs on. Below, on the same clock: the jobs that wait, what all boards draw, "
      "and how many jobs come.");
  for (const PolicyPictures& policy : pictures) {
    for (const PageWidget& timeline : policy.timelines) page.add(timeline);
  }

  page.section("Tardiness");
  page.add(tardiness_chart(shapes));

  page.section("Energy");
  page.add(energy_by_kind_chart(shapes));
  add_energy_by_gpu(page, shapes);

  page.section("Layouts by hour");
  page.paragraph(
      "The share of the GPUs' time in each layout, by the hour of the clock of the submit times. A "
      "layout has one colour in all pictures.");
  const std::vector<ColumnChart> layouts = layout_charts(shapes);
  if (layouts.size() == 1) {
    page.add(layouts.front());
  } else {
    page.add_side_by_side(layouts);
  }

  if (context.learning_curve) {
    page.section("Learning");
    page.add(*context.learning_curve);
  }
}

void add_notes(Page& page, const ReportContext& context) {
  for (const std::string& note : context.notes) page.paragraph(note);
}

void add_assumptions(Page& page, const ReportContext& context) {
  if (context.balance) {
    page.section("Jobs of the file");
    page.add(balance_table(*context.balance));
  }
  if (context.assumptions.empty()) return;
  page.section("Assumptions");
  PageTable table;
  table.name = "assumptions";
  table.caption = "What the numbers rest on. Another value may change which policy is best.";
  table.columns = {{"what", false}, {"assumed here", false}, {"what changes it", false}};
  for (const Assumption& assumption : context.assumptions)
    table.rows.push_back({assumption.what, assumption.text, assumption.option});
  page.add(table);
}

}  // namespace smartmig
