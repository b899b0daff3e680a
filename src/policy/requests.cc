#include "policy/requests.h"

#include <bit>

#include "base/text.h"
#include "workload/catalogue.h"

namespace smartmig {
namespace {

// "NAME=k" into the table of sizes.
Result<void> read_size(std::string_view term, std::vector<std::uint8_t>& compute) {
  const std::size_t equals = term.rfind('=');
  if (equals == std::string_view::npos) {
    return fail("policy on-demand: found {}, expected asked, on-time or NAME=SIZE+NAME=SIZE...",
                in_quotes(term));
  }
  const auto profile = Catalogue::shipped().find(term.substr(0, equals));
  if (!profile) return fail("policy on-demand: {}", profile.error().message);
  const auto size = parse_integer(term.substr(equals + 1));
  if (!size || size_index(static_cast<int>(std::clamp<std::int64_t>(*size, 0, 8))) < 0) {
    return fail("policy on-demand: {}: found {}, expected one of the sizes 1, 2, 3, 4, 7",
                term.substr(0, equals), in_quotes(term.substr(equals + 1)));
  }
  if (compute[*profile] != 0)
    return fail("policy on-demand: {} is named twice", term.substr(0, equals));
  compute[*profile] = static_cast<std::uint8_t>(*size);
  return {};
}

}  // namespace

Result<Requests> Requests::parse(std::string_view text) {
  Requests requests;
  if (text == "asked") {
    requests.rule = RequestRule::kAsked;
    return requests;
  }
  if (text == "on-time") return requests;
  requests.rule = RequestRule::kByProfile;
  requests.compute.assign(Catalogue::shipped().profiles().size(), 0);
  for (const std::string_view term : split(text, '+')) {
    if (const auto read = read_size(term, requests.compute); !read) return pass_on(read);
  }
  return requests;
}

RequestReader::RequestReader(Requests requests, const Fleet& fleet)
    : requests_(std::move(requests)), largest_(fleet.largest_size()) {
  for (std::size_t k = 0; k < fleet.kinds().size(); ++k) {
    if (fleet.kinds()[k].base) base_kinds_[fleet.kinds()[k].size] |= KindSet{1} << k;
  }
}

RequestReader::Request RequestReader::read(const View& view, JobIndex job, KindSet kinds) const {
  const int wanted = wanted_size(view, job, kinds);
  for (int size = wanted; size < kSizeCount; ++size) {
    if (base_kinds_[size] & kinds) return {size, base_kinds_[size] & kinds};
  }
  for (int size = wanted - 1; size >= 0; --size) {
    if (base_kinds_[size] & kinds) return {size, base_kinds_[size] & kinds};
  }
  return {};
}

int RequestReader::wanted_size(const View& view, JobIndex job, KindSet kinds) const {
  switch (requests_.rule) {
    case RequestRule::kAsked:
      return asked_size(view.job(job));
    case RequestRule::kOnTime:
      return on_time_size(view, job, kinds);
    case RequestRule::kByProfile:
      break;
  }
  const std::uint16_t profile = view.job(job).profile;
  const int compute = profile == kNoProfile ? 0 : requests_.compute[profile];
  return compute == 0 ? largest_ : size_index(compute);
}

// The smallest size of the fleet with at least that share of seven compute slices.
int RequestReader::asked_size(const SeenJob& job) const {
  if (job.request_millionths == 0) return largest_;
  for (int size = 0; size < largest_; ++size) {
    if (base_kinds_[size] && serves_request(kSizes[size], job.request_millionths)) return size;
  }
  return largest_;
}

int RequestReader::on_time_size(const View& view, JobIndex job, KindSet kinds) const {
  const SeenJob row = view.job(job);
  const Seen seen = view.look_at(job);
  for (int size = 0; size < kSizeCount; ++size) {
    for (KindSet rest = base_kinds_[size] & kinds; rest; rest &= rest - 1) {
      if (row.submit_us + seen.remaining_us(std::countr_zero(rest)) <= row.submitted_deadline_us)
        return size;
    }
  }
  return largest_;
}

}  // namespace smartmig
