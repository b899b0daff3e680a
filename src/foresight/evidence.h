// What looks ahead have told of the contenders. One look alone is a few futures, too few to tell
// contenders apart that differ by some percent; but who is best changes slowly, and so earlier
// looks count as well, less and less. A contender that did badly is left out of some looks.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace smartmig {

class Evidence {
 public:
  static constexpr double kNotRun = -1;
  static constexpr double kForEver = std::numeric_limits<double>::infinity();

  // Nothing is known of so many contenders.
  void clear(std::size_t contenders);

  // A look begins: what was known counts `kept` times as much as before.
  void begin_look(double kept);
  // What each contender costs on one future of this look: kNotRun where it was not simulated,
  // kForEver where it leaves a job that never runs.
  void add(std::span<const double> costs);

  // How much more `a` costs than `b` on the futures that both have run, as a part of the least cost
  // of a future.
  struct Difference {
    double mean = 0;
    double error = 0;    // Standard error of the mean.
    double futures = 0;  // Independent futures that would tell as much.
  };
  Difference more(std::size_t a, std::size_t b) const;

  // Whether the contender is left out of this look.
  bool rests(std::size_t contender) const { return rests_[contender].looks > 0; }
  // It lost by so much: left out of the next looks, of twice as many each time, at most `most`.
  void send_to_rest(std::size_t contender, int strikes, int most);
  void forgive(std::size_t contender) { rests_[contender].strikes = 0; }

 private:
  static constexpr std::size_t kRows = 32;
  struct Row {
    double weight = 0;
    bool of_this_look = false;
    std::vector<double> costs;
  };
  struct Rest {
    int looks = 0;    // Still to be left out of, the present one included.
    int strikes = 0;  // In a row.
  };

  double scale(const Row& row) const;

  std::vector<Row> rows_;  // A ring.
  std::size_t added_ = 0;
  std::vector<Rest> rests_;
  double least_ = 0;  // Sum over the futures of this look of the least cost.
  int futures_ = 0;   // Futures of this look.
};

}  // namespace smartmig
