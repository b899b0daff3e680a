#include "bound/certificate.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "bound/check.h"
#include "workload/generator.h"

namespace smartmig {
namespace {

class CertificateTest : public testing::Test {
 protected:
  CertificateTest() {
    GeneratorOptions options;
    options.fixed_rate = true;
    options.rate = 8;
    options.count = 60;
    table_ = generate(options);
    input_.fleet = &fleet_;
    input_.jobs = table_.jobs;
    input_.costs = &costs_;
    AscentOptions ascent;
    ascent.rounds = 40;
    for (const Objective objective : {Objective::kEnergy, Objective::kTardiness, Objective::kEt})
      bounds_.push_back(certify(input_, objective, ascent).value());
    text_ = write_certificate(input_, bounds_);
  }

  std::string why_not(const BoundInput& input, const std::string& text) const {
    const auto certificate = read_certificate(text, "c.json");
    if (!certificate) return certificate.error().message;
    const auto verified = verify(input, *certificate, 1);
    return verified ? "holds" : verified.error().message;
  }

  Fleet fleet_ = *Fleet::parse("2xA100-40GB");
  Costs costs_ = Costs::free();
  JobTable table_;
  BoundInput input_;
  std::vector<CertifiedBound> bounds_;
  std::string text_;
};

TEST_F(CertificateTest, HoldsForWhatItWasWrittenFor) { EXPECT_EQ(why_not(input_, text_), "holds"); }

TEST_F(CertificateTest, KeepsPricesToTheLastBit) {
  const auto read = read_certificate(text_, "c.json");
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->bounds.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(read->bounds[i].prices.edges_s, bounds_[i].prices.edges_s);
    EXPECT_EQ(read->bounds[i].prices.value, bounds_[i].prices.value);
    EXPECT_EQ(read->bounds[i].value, bounds_[i].value);
  }
}

TEST_F(CertificateTest, DoesNotHoldWithAnotherPrice) {
  auto root = nlohmann::json::parse(text_);
  auto& prices = root["bounds"][2]["prices"];
  std::size_t priced = 0;
  while (prices[priced] == 0.0) ++priced;
  prices[priced] = prices[priced].get<double>() * 1.5;
  EXPECT_EQ(why_not(input_, root.dump()), "it was changed after it was written");
}

TEST_F(CertificateTest, ClaimsNoMoreThanItsPricesProve) {
  bounds_[2].value *= 1.0000001;
  EXPECT_EQ(why_not(input_, write_certificate(input_, bounds_)).substr(0, 16), "its prices prove");
}

TEST_F(CertificateTest, DoesNotHoldForAnotherJob) {
  std::vector<Job> jobs = table_.jobs;
  jobs[30].time_us[0] -= 1;
  BoundInput other = input_;
  other.jobs = jobs;
  EXPECT_EQ(why_not(other, text_), "it is for other jobs (60, not these 60)");
  other.jobs = std::span(table_.jobs).first(59);
  EXPECT_EQ(why_not(other, text_), "it is for other jobs (60, not these 59)");
}

TEST_F(CertificateTest, DoesNotHoldForAnotherFleetOrSetting) {
  const Fleet larger = *Fleet::parse("3xA100-40GB");
  BoundInput other = input_;
  other.fleet = &larger;
  EXPECT_EQ(why_not(other, text_), "it is for fleet '2xA100-40GB', not '3xA100-40GB'");
  other = input_;
  other.energy_weight *= 2;
  EXPECT_EQ(why_not(other, text_).substr(0, 22), "it is for other costs,");
  other = input_;
  Costs slow = costs_;
  slow.start_us = kSecondUs;
  other.costs = &slow;
  EXPECT_EQ(why_not(other, text_).substr(0, 22), "it is for other costs,");
}

TEST_F(CertificateTest, SaysWhereItIsCutShortOrNoCertificate) {
  for (std::size_t size = 0; size < text_.size() - 2; size += 97)
    EXPECT_EQ(why_not(input_, text_.substr(0, size)).substr(0, 22), "c.json: is not a whole")
        << size;
  EXPECT_EQ(why_not(input_, "{}"),
            "c.json: is not a certificate; expected \"form\": \"smartmig bound certificate 1\"");
  auto root = nlohmann::json::parse(text_);
  root["jobs"] = 1e114;
  EXPECT_EQ(why_not(input_, root.dump()), "c.json: jobs: found 1e+114, expected a number");
  root["jobs"] = 60;
  root["bounds"][0]["edges_us"][0] = 0.5;
  EXPECT_EQ(why_not(input_, root.dump()),
            "c.json: edges_us: found 0.5, expected whole microseconds");
  root.erase("bounds");
  EXPECT_EQ(why_not(input_, root.dump()).substr(0, 7), "c.json:");
}

TEST_F(CertificateTest, RefusesPricesThatProveNothing) {
  for (const auto& spoil : std::vector<std::function<void(Prices&)>>{
           [](Prices& p) { p.value[1] = -0.1; }, [](Prices& p) { p.value.pop_back(); },
           [](Prices& p) { p.edges_s[1] = p.edges_s[2]; }, [](Prices& p) { p.edges_s[0] = 1; },
           [](Prices& p) { p.value[p.stretches() - 1] = 1; }, [](Prices& p) { p.value[0] = NAN; },
           [](Prices& p) { p.edges_s.clear(); }}) {
    Prices prices = bounds_[2].prices;
    EXPECT_TRUE(check_prices(prices, 2));
    spoil(prices);
    EXPECT_FALSE(check_prices(prices, 2));
  }
}

TEST_F(CertificateTest, DoesNotHoldForAnotherWindowOfATrace) {
  BoundInput trace = input_;
  trace.trace = TraceWindow{table_.jobs.front().submit_us, table_.jobs.back().submit_us};
  EXPECT_EQ(why_not(trace, text_).substr(0, 22), "it is for other costs,");
  const std::string text =
      write_certificate(trace, {certify(trace, Objective::kEnergy, {}).value()});
  EXPECT_EQ(why_not(trace, text), "holds");
  trace.trace->last_submit_us += 1;
  EXPECT_EQ(why_not(trace, text).substr(0, 22), "it is for other costs,");
}

}  // namespace
}  // namespace smartmig
