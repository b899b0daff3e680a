#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "report/html.h"
#include "report/svg.h"
#include "report/timeline.h"

namespace smartmig {
namespace {

constexpr double kWidth = 1000;
constexpr double kLeft = 62;
constexpr double kRight = kWidth - 10;
constexpr std::size_t kMostRects = 4000;

// What a cell of the picture shows; the order is that of the classes below.
enum Paint : std::uint8_t { kNothing, kSlice, kDown, kFirstShade };
constexpr std::array<std::string_view, 3 + kShades> kClasses = {
    "", "slice", "down", "inference", "training", "late-inference", "late-training"};

// One row of cells for each memory slice of a GPU, or one for a whole GPU where there are many.
struct Grid {
  std::size_t columns = 0;
  std::size_t rows_of_gpu = 1;
  std::vector<std::uint8_t> cells;  // By row, then column.
  std::uint8_t* row(GpuIndex gpu, std::size_t row) {
    return cells.data() + (gpu * rows_of_gpu + row) * columns;
  }
};

class GridMaker {
 public:
  GridMaker(const Timeline& timeline, const Fleet& fleet, std::size_t columns, bool rows)
      : timeline_(timeline), fleet_(fleet) {
    grid_.columns = columns;
    if (rows) {
      for (const Board* board : fleet.boards())
        grid_.rows_of_gpu =
            std::max(grid_.rows_of_gpu, static_cast<std::size_t>(board->memory_slices));
    }
    grid_.cells.resize(timeline.gpus * grid_.rows_of_gpu * columns);
  }

  Grid make() {
    for (std::size_t i = 0; i < timeline_.layouts.size(); ++i) paint_layout(i);
    // A cell shows what holds at its middle, so that no job has more room than it took; what is
    // shorter than a column shows here and there, about as often as it should.
    for (const TimelinePiece& piece : timeline_.pieces) {
      const GpuIndex gpu = fleet_.gpu_of(piece.slice);
      const Slot& slot = fleet_.board(gpu).slots[piece.slot];
      paint(gpu, slot, piece.begin_us, piece.end_us,
            static_cast<std::uint8_t>(kFirstShade + static_cast<std::uint8_t>(piece.shade)));
    }
    return std::move(grid_);
  }

 private:
  void paint_layout(std::size_t i) {
    const TimelineLayout& layout = timeline_.layouts[i];
    const bool last =
        i + 1 == timeline_.layouts.size() || timeline_.layouts[i + 1].gpu != layout.gpu;
    const TimeUs end = last ? timeline_.end_us : timeline_.layouts[i + 1].begin_us;
    const Board& board = fleet_.board(layout.gpu);
    if (!layout.up) {
      const Slot whole{0, 0, static_cast<std::uint8_t>(board.memory_slices)};
      paint(layout.gpu, whole, layout.begin_us, end, kDown);
      return;
    }
    for (std::size_t s = 0; s < board.slots.size(); ++s) {
      if (layout.ready >> s & 1) paint(layout.gpu, board.slots[s], layout.begin_us, end, kSlice);
    }
  }

  void paint(GpuIndex gpu, const Slot& slot, TimeUs begin, TimeUs end, std::uint8_t cell) {
    const double scale = static_cast<double>(grid_.columns) /
                         static_cast<double>(timeline_.end_us - timeline_.begin_us);
    const auto column = [&](TimeUs at) {
      const double middle = static_cast<double>(at - timeline_.begin_us) * scale + 0.5;
      return std::min(grid_.columns, static_cast<std::size_t>(middle));
    };
    const bool one_row = grid_.rows_of_gpu == 1;
    const std::size_t first = one_row ? 0 : slot.start;
    const std::size_t rows = one_row ? 1 : slot.width;
    for (std::size_t row = first; row < first + rows; ++row)
      std::fill(grid_.row(gpu, row) + column(begin), grid_.row(gpu, row) + column(end), cell);
  }

  const Timeline& timeline_;
  const Fleet& fleet_;
  Grid grid_;
};

struct Rect {
  std::size_t column, columns, row, rows;
  std::uint8_t cell;
};

// Whether `below` is the next row of the same.
bool continues(const Rect& above, const Rect& below) {
  return above.column == below.column && above.columns == below.columns &&
         above.row + above.rows == below.row && above.cell == below.cell;
}

// Cells of one kind, joined along rows and then down the rows of their GPU.
std::vector<Rect> rects_of(Grid& grid, GpuIndex gpus) {
  std::vector<Rect> rects;
  std::vector<std::size_t> last(grid.columns);  // By column: the last rect that begins there.
  for (GpuIndex gpu = 0; gpu < gpus; ++gpu) {
    const std::size_t first_of_gpu = rects.size();
    for (std::size_t r = 0; r < grid.rows_of_gpu; ++r) {
      const std::uint8_t* cells = grid.row(gpu, r);
      const std::size_t row = gpu * grid.rows_of_gpu + r;
      for (std::size_t begin = 0, end; begin < grid.columns; begin = end) {
        for (end = begin + 1; end < grid.columns && cells[end] == cells[begin];) ++end;
        if (cells[begin] == kNothing) continue;
        const Rect rect{begin, end - begin, row, 1, cells[begin]};
        const bool any = last[begin] >= first_of_gpu && last[begin] < rects.size();
        if (any && continues(rects[last[begin]], rect)) {
          ++rects[last[begin]].rows;
        } else {
          last[begin] = rects.size();
          rects.push_back(rect);
        }
      }
    }
  }
  return rects;
}

struct Bands {
  double top = 0;
  double pitch = 0;
  double height = 0;
  double bottom = 0;
  double top_of(GpuIndex gpu) const { return top + pitch * gpu; }
};

void draw_grid(Svg& svg, const Timeline& timeline, const Fleet& fleet, const Bands& bands) {
  // Finer while it stays a small picture.
  std::size_t columns = 960;
  Grid grid;
  std::vector<Rect> rects;
  do {
    columns /= 2;
    grid = GridMaker(timeline, fleet, columns, bands.height >= 16).make();
    rects = rects_of(grid, timeline.gpus);
  } while (rects.size() > kMostRects && columns > 30);

  const double column_width = (kRight - kLeft) / static_cast<double>(columns);
  const double row_height = bands.height / static_cast<double>(grid.rows_of_gpu);
  std::array<std::string, kClasses.size()> paths;
  for (const Rect& rect : rects) {
    const std::size_t gpu = rect.row / grid.rows_of_gpu;
    const std::size_t row = rect.row % grid.rows_of_gpu;
    const double width = static_cast<double>(rect.columns) * column_width;
    const double height = static_cast<double>(rect.rows) * row_height - 0.5;
    paths[rect.cell] += fmt::format(
        "M{} {}h{}v{}h-{}z", coordinate(kLeft + static_cast<double>(rect.column) * column_width),
        coordinate(bands.top_of(static_cast<GpuIndex>(gpu)) +
                   static_cast<double>(row) * row_height),
        coordinate(width), coordinate(height), coordinate(width));
  }
  for (std::size_t cell = kSlice; cell < paths.size(); ++cell) {
    if (!paths[cell].empty()) svg.path(paths[cell], kClasses[cell]);
  }
}

void draw_strip(Svg& svg, const Timeline& timeline, const std::vector<double>& values,
                std::string_view label, std::size_t colour, double top, double height) {
  const double highest = *std::max_element(values.begin(), values.end());
  const double most = highest > 0 ? highest : 1;
  const double span = static_cast<double>(timeline.end_us - timeline.begin_us);
  // About a point for each unit of width: more cannot be seen.
  const std::size_t every = std::max<std::size_t>(1, values.size() / 500);
  std::string d;
  for (std::size_t i = 0; i < values.size(); i += every) {
    double sum = 0;
    const std::size_t end = std::min(values.size(), i + every);
    for (std::size_t k = i; k < end; ++k) sum += values[k];
    const double at = static_cast<double>(timeline.bin_us) * static_cast<double>(i + end) / 2;
    d += fmt::format("{}{} {}", d.empty() ? "M" : "L",
                     coordinate(kLeft + std::min(1., at / span) * (kRight - kLeft)),
                     coordinate(top + height * (1 - sum / static_cast<double>(end - i) / most)));
  }
  svg.line(kLeft, top + height, kRight, top + height, "grid");
  svg.path(d, fmt::format("{} line", stroke_class(colour)));
  svg.text(kLeft - 6, top + 10, readable(most), "soft", Anchor::kEnd);
  svg.text(kLeft - 6, top + height, "0", "soft", Anchor::kEnd);
  svg.text(kLeft + 4, top + 10, label, "ink halo");
}

void draw_key(Svg& svg, double y) {
  constexpr std::array<std::string_view, 5> kNames = {"idle slice", "inference", "training",
                                                      "late inference", "late training"};
  double x = kLeft;
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    svg.rect(x, y, 10, 10, kClasses[i == 0 ? std::size_t{kSlice} : i + 2]);
    svg.text(x + 15, y + 9, kNames[i], "soft");
    x += 15 + text_width(kNames[i]) + 22;
  }
}

}  // namespace

std::string timeline_still(const Timeline& timeline, const Engine& engine, const ChartText& text) {
  constexpr double kStrip = 46;
  const Fleet& fleet = engine.state().fleet();
  Bands bands;
  bands.top = 24;
  bands.height = std::clamp(360. / timeline.gpus, 4., 40.);
  bands.pitch = bands.height + (bands.height >= 16 ? 6 : 1);
  bands.bottom = bands.top_of(timeline.gpus);
  const double strips = bands.bottom + 16;
  const double axis = strips + 3 * (kStrip + 18) - 8;
  Svg svg(kWidth, axis + 28, text.title, text.name + "-still");
  draw_key(svg, 2);
  for (const Tick& tick : clock_ticks(timeline.begin_us, timeline.end_us, 14)) {
    const double x = kLeft + (tick.value - static_cast<double>(timeline.begin_us)) /
                                 static_cast<double>(timeline.end_us - timeline.begin_us) *
                                 (kRight - kLeft);
    svg.line(x, bands.top, x, axis, "grid");
    svg.text(std::min(x, kRight - 12), axis + 16, tick.label, "soft", Anchor::kMiddle);
  }
  const auto label_every = static_cast<GpuIndex>(std::max(1., 16 / bands.pitch));
  for (GpuIndex gpu = 0; gpu < timeline.gpus; gpu += label_every)
    svg.text(kLeft - 6, bands.top_of(gpu) + bands.height / 2 + 4, fmt::format("GPU {}", gpu),
             "soft", Anchor::kEnd);
  draw_grid(svg, timeline, fleet, bands);
  const double pitch = kStrip + 18;
  draw_strip(svg, timeline, timeline.queue, "jobs waiting", 3, strips, kStrip);
  draw_strip(svg, timeline, timeline.power_w, "power, W", 1, strips + pitch, kStrip);
  draw_strip(svg, timeline, timeline.arrivals_per_min, "arrivals a minute", 0, strips + 2 * pitch,
             kStrip);
  return std::move(svg).finish();
}

}  // namespace smartmig
