#include "nn/masked_categorical.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/binomial.h"
#include "base/result.h"
#include "nn/elementary.h"
#include "nn/flush_denormals.h"

namespace smartmig {
namespace {

constexpr float kLowest = std::numeric_limits<float>::lowest();

// Above this many members a line is cheaper to split than to draw one by one.
constexpr std::uint32_t kDrawnOneByOne = 8;

// Folds a line in eight interleaved parts, which a compiler keeps in one vector, and then the parts
// in order: the order is the same wherever the line lies.
template <class Fold>
float fold_line(const float* line, int options, float start, Fold fold) {
  constexpr int kParts = 8;
  float parts[kParts];
  std::fill_n(parts, kParts, start);
  int o = 0;
  for (; o + kParts <= options; o += kParts) {
    for (int k = 0; k < kParts; ++k) parts[k] = fold(parts[k], line[o + k]);
  }
  for (; o < options; ++o) parts[o % kParts] = fold(parts[o % kParts], line[o]);
  float result = parts[0];
  for (int k = 1; k < kParts; ++k) result = fold(result, parts[k]);
  return result;
}

// A line's allowed logits less the largest of them, far below 0 elsewhere; false where nothing is
// allowed.
bool shift_line(const float* logits, const std::uint8_t* mask, int options, float* shifted) {
  int allowed = 0;
  for (int o = 0; o < options; ++o) {
    allowed += mask[o];
    shifted[o] = mask[o] ? logits[o] : kLowest;
  }
  const float largest =
      fold_line(shifted, options, kLowest, [](float a, float b) { return a > b ? a : b; });
  for (int o = 0; o < options; ++o) shifted[o] -= largest;
  return allowed > 0;
}

// Turns exp(shifted) and shifted into p and log p.
void normalise_line(const std::uint8_t* mask, int options, float* p, float* log_p) {
  for (int o = 0; o < options; ++o) p[o] = mask[o] ? p[o] : 0.0F;
  const float sum = fold_line(p, options, 0.0F, [](float a, float b) { return a + b; });
  const float share = 1.0F / sum;
  const float log_sum = std::log(sum);
  for (int o = 0; o < options; ++o) {
    p[o] *= share;
    log_p[o] = mask[o] ? log_p[o] - log_sum : 0.0F;
  }
}

template <class Count>
void draw_one_by_one(std::span<const float> p, std::uint32_t members, Random& random,
                     std::span<Count> counts) {
  double total = 0;
  for (float share : p) total += share;
  for (std::uint32_t m = 0; m < members; ++m) {
    double left = random.uniform() * total;
    std::size_t last = 0;
    for (std::size_t o = 0; o < p.size(); ++o) {
      if (p[o] == 0) continue;
      last = o;
      if (left < p[o]) break;
      left -= p[o];
    }
    ++counts[last];
  }
}

// Each option in turn takes its share of the members and the probability that are left.
template <class Count>
void split_members(std::span<const float> p, std::uint32_t members, Random& random,
                   std::span<Count> counts) {
  double total = 0;
  std::size_t last = 0;
  for (std::size_t o = 0; o < p.size(); ++o) {
    total += p[o];
    if (p[o] > 0) last = o;
  }
  for (std::size_t o = 0; o < last && members; ++o) {
    if (p[o] == 0) continue;
    const double share = std::min(1.0, static_cast<double>(p[o]) / total);
    const auto taken = static_cast<std::uint32_t>(binomial(random, members, share));
    counts[o] = static_cast<Count>(taken);
    members -= taken;
    total -= p[o];
  }
  counts[last] = static_cast<Count>(counts[last] + members);
}

template <class Count>
void sample(std::span<const float> p, std::uint32_t members, Random& random,
            std::span<Count> counts) {
  SM_CHECK(p.size() == counts.size());
  SM_CHECK(members <= std::numeric_limits<Count>::max());
  std::fill(counts.begin(), counts.end(), Count{0});
  if (members == 0) return;
  SM_CHECK(std::any_of(p.begin(), p.end(), [](float x) { return x > 0; }));
  if (members <= kDrawnOneByOne) {
    draw_one_by_one(p, members, random, counts);
  } else {
    split_members(p, members, random, counts);
  }
}

}  // namespace

void masked_softmax(std::span<const float> logits, std::span<const std::uint8_t> masks,
                    std::span<const std::uint16_t> members, int options,
                    std::span<float> probabilities, std::span<float> log_probabilities) {
  const std::size_t lines = logits.size() / options;
  SM_CHECK(logits.size() == lines * options && masks.size() == logits.size());
  SM_CHECK(probabilities.size() == logits.size() && log_probabilities.size() == logits.size());
  SM_CHECK(members.empty() || members.size() == lines);
  const FlushDenormals flush;
  const auto skipped = [&](std::size_t line) { return !members.empty() && members[line] == 0; };
  for (std::size_t line = 0; line < lines; ++line) {
    const std::size_t at = line * options;
    float* p = probabilities.data() + at;
    float* log_p = log_probabilities.data() + at;
    if (skipped(line) || !shift_line(logits.data() + at, masks.data() + at, options, log_p)) {
      std::fill_n(p, options, 0.0F);
      std::fill_n(log_p, options, 0.0F);
      continue;
    }
    exp_all(log_p, p, static_cast<std::size_t>(options));
    normalise_line(masks.data() + at, options, p, log_p);
  }
}

void keep_most_likely(std::span<const float> logits, int options, int keep,
                      std::span<std::uint8_t> masks) {
  SM_CHECK(logits.size() == masks.size() && logits.size() % options == 0);
  if (keep <= 0 || keep >= options) return;
  for (std::size_t at = 0; at < logits.size(); at += options) {
    const auto line = logits.subspan(at, options);
    const auto mask = masks.subspan(at, options);
    // `keep` is small: take the best that is left, mark it with 2, and again.
    for (int taken = 0; taken < keep; ++taken) {
      int best = -1;
      for (int o = 0; o < options; ++o) {
        if (mask[o] == 1 && (best < 0 || line[o] > line[best])) best = o;
      }
      if (best < 0) break;
      mask[best] = 2;
    }
    for (std::uint8_t& allowed : mask) allowed = allowed == 2;
  }
}

void sample_counts(std::span<const float> probabilities, std::uint32_t members, Random& random,
                   std::span<std::uint16_t> counts) {
  sample(probabilities, members, random, counts);
}

void sample_counts(std::span<const float> probabilities, std::uint32_t members, Random& random,
                   std::span<std::uint32_t> counts) {
  sample(probabilities, members, random, counts);
}

double log_probability(std::span<const float> log_probabilities,
                       std::span<const std::uint16_t> counts) {
  SM_CHECK(log_probabilities.size() == counts.size());
  double sum = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i]) sum += counts[i] * static_cast<double>(log_probabilities[i]);
  }
  return sum;
}

double entropy(std::span<const float> probabilities, std::span<const float> log_probabilities,
               std::span<const std::uint16_t> members, int options) {
  SM_CHECK(probabilities.size() == members.size() * options);
  double total = 0;
  double sum = 0;
  for (std::size_t head = 0; head < members.size(); ++head) {
    if (members[head] == 0) continue;
    total += members[head];
    double of_head = 0;
    for (std::size_t i = head * options; i < (head + 1) * options; ++i) {
      of_head -= static_cast<double>(probabilities[i]) * log_probabilities[i];
    }
    sum += members[head] * of_head;
  }
  return total > 0 ? sum / total : 0;
}

int most_likely(std::span<const float> logits, std::span<const std::uint8_t> mask) {
  int best = -1;
  for (int o = 0; o < static_cast<int>(logits.size()); ++o) {
    if (mask[o] && (best < 0 || logits[o] > logits[best])) best = o;
  }
  return best;
}

}  // namespace smartmig
