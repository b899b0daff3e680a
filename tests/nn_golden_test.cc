// Networks, PPO's loss and its gradient against PyTorch: from a file it wrote once, and live where
// it is installed. `SMARTMIG_WRITE_GOLDEN=1 build/release/nn_golden_test` writes the file anew.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "nn/masked_categorical.h"
#include "nn/network.h"
#include "nn/network_file.h"
#include "nn/ppo_loss.h"

namespace smartmig {
namespace {

using nlohmann::json;

const std::string kFolder = SMARTMIG_GOLDEN;

// A python3 that can import the module, or "".
std::string python_with(const std::string& module) {
  for (const std::string python : {"python3", "/usr/bin/python3"}) {
    const std::string command = python + " -c 'import " + module + "' 2>/dev/null";
    if (std::system(command.c_str()) == 0) return python;
  }
  return "";
}

struct TemporaryFolder {
  std::string path;
  TemporaryFolder() {
    std::string pattern = std::filesystem::temp_directory_path() / "smartmig-golden-XXXXXX";
    path = mkdtemp(pattern.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path); }
};

NetworkShape shape_of(const json& c) {
  const int outputs = c["heads"].get<int>() * c["options"].get<int>();
  return {.inputs = c["inputs"],
          .hidden = c["hidden"],
          .outputs = outputs,
          .activation = c["activation"] == "tanh" ? Activation::kTanh : Activation::kRelu};
}

json floats(std::size_t count, double scale, Random& random) {
  json out = json::array();
  for (std::size_t i = 0; i < count; ++i) {
    out.push_back(static_cast<float>(scale * random.normal()));
  }
  return out;
}

// Fills in what a rollout leaves: masks, members, and what they chose under an old policy.
void add_rollout(json& c, Random& random) {
  const std::size_t rows = c["rows"];
  const std::size_t heads = c["heads"];
  const std::size_t options = c["options"];
  const std::size_t size = rows * heads * options;
  std::vector<std::uint8_t> masks(size);
  std::vector<std::uint16_t> members(rows * heads);
  std::vector<std::uint16_t> counts(size);
  std::vector<float> p(size);
  std::vector<float> log_p(size);
  for (std::size_t i = 0; i < size; ++i) masks[i] = i % options == 0 || random.below(3);
  for (auto& m : members) m = static_cast<std::uint16_t>(random.below(4));
  const std::vector<float> old = floats(size, 0.5, random);
  masked_softmax(old, masks, members, static_cast<int>(options), p, log_p);
  std::vector<float> chosen;
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t line = row * heads; line < (row + 1) * heads; ++line) {
      sample_counts(std::span(p).subspan(line * options, options), members[line], random,
                    std::span(counts).subspan(line * options, options));
    }
    const std::size_t width = heads * options;
    chosen.push_back(
        static_cast<float>(log_probability(std::span(log_p).subspan(row * width, width),
                                           std::span(counts).subspan(row * width, width))));
  }
  c["masks"] = masks;
  c["members"] = members;
  c["counts"] = counts;
  c["old_probabilities"] = p;
  c["old_log_probabilities"] = chosen;
  for (const char* field : {"advantages", "returns", "old_values"}) {
    c[field] = floats(rows, 1, random);
  }
}

json make_cases(std::uint64_t seed, int scale) {
  Random random(seed, "golden");
  json cases = json::array();
  for (int i = 0; i < 3; ++i) {
    json c;
    c["inputs"] = 5 * scale;
    c["hidden"] = i == 2 ? json::array({6 * scale}) : json::array({4 * scale, 3 * scale});
    c["activation"] = i == 1 ? "relu" : "tanh";
    c["heads"] = i == 2 ? 1 : 2;
    c["options"] = 3 + i;
    c["rows"] = 6 * scale;
    c["weights"] = {{"clipped", i != 1},
                    {"clip", 0.15},
                    {"kl", 0.4},
                    {"value", 0.5},
                    {"value_clip", i == 0 ? 0.2 : 0.0},
                    {"entropy", 0.02}};
    const Network network(shape_of(c));
    c["parameters"] = floats(network.parameters().size(), 0.3, random);
    c["inputs_rows"] = floats(c["rows"].get<std::size_t>() * 5 * scale, 1, random);
    add_rollout(c, random);
    cases.push_back(std::move(c));
  }
  return cases;
}

void expect_near(const std::vector<float>& found, const json& expected, const char* what) {
  const auto values = expected.get<std::vector<double>>();
  ASSERT_EQ(found.size(), values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    // Sums of up to a few hundred floats against doubles.
    ASSERT_NEAR(found[i], values[i], 1e-5 + 1e-5 * std::abs(values[i])) << what << ' ' << i;
  }
}

void expect_agreement(const json& c) {
  Network network(shape_of(c));
  const auto parameters = c["parameters"].get<std::vector<float>>();
  std::copy(parameters.begin(), parameters.end(), network.parameters().begin());
  const auto inputs = c["inputs_rows"].get<std::vector<float>>();
  const std::size_t rows = c["rows"];
  std::vector<float> logits(rows * network.shape().outputs);
  std::vector<float> values(rows);
  Workspace workspace;
  network.forward(inputs, rows, workspace, logits, values);
  expect_near(logits, c["expected"]["logits"], "logit");
  expect_near(values, c["expected"]["values"], "value");

  const json& w = c["weights"];
  const PpoLossWeights weights{w["clipped"], w["clip"],       w["kl"],
                               w["value"],   w["value_clip"], w["entropy"]};
  const auto masks = c["masks"].get<std::vector<std::uint8_t>>();
  const auto members = c["members"].get<std::vector<std::uint16_t>>();
  const auto counts = c["counts"].get<std::vector<std::uint16_t>>();
  const auto field = [&](const char* name) { return c[name].get<std::vector<float>>(); };
  const auto old_p = field("old_probabilities");
  const auto old_log_p = field("old_log_probabilities");
  const auto advantages = field("advantages");
  const auto returns = field("returns");
  const auto old_values = field("old_values");
  const PpoRows batch{c["options"], masks,      members, counts,    old_p,
                      old_log_p,    advantages, returns, old_values};
  PpoLossScratch scratch;
  std::vector<float> d_logits(logits.size());
  std::vector<float> d_values(rows);
  const PpoLossSums sums =
      ppo_loss(weights, batch, rows, logits, values, scratch, d_logits, d_values);
  EXPECT_NEAR(sums.loss(weights), c["expected"]["loss"].get<double>(), 1e-5);
  std::vector<float> gradient(parameters.size());
  network.backward(inputs, rows, workspace, d_logits, d_values, gradient);
  expect_near(gradient, c["expected"]["gradient"], "gradient");
}

// Has PyTorch add what it expects to the cases in `in`.
void run_torch(const std::string& python, const json& cases, const std::string& in,
               const std::string& out) {
  std::ofstream(in) << cases;
  const std::string command = python + " " + kFolder + "/nn_golden.py " + in + " " + out;
  ASSERT_EQ(std::system(command.c_str()), 0) << command;
}

TEST(NnGolden, AgreesWithWhatPyTorchWrote) {
  const std::string path = kFolder + "/nn_golden.json";
  if (std::getenv("SMARTMIG_WRITE_GOLDEN")) {
    const TemporaryFolder folder;
    run_torch(python_with("torch"), make_cases(1, 1), folder.path + "/in.json", path);
  }
  const auto text = read_file(path);
  ASSERT_TRUE(text) << text.error().message;
  const json cases = json::parse(*text);
  ASSERT_EQ(cases.size(), 3u);
  for (const json& c : cases) expect_agreement(c);
}

TEST(NnGolden, AgreesWithPyTorchOnLargerCases) {
  const std::string python = python_with("torch");
  if (python.empty()) GTEST_SKIP() << "did not run: PyTorch is not installed";
  const TemporaryFolder folder;
  const std::string out = folder.path + "/out.json";
  run_torch(python, make_cases(2, 12), folder.path + "/in.json", out);
  for (const json& c : json::parse(*read_file(out))) expect_agreement(c);
}

TEST(NnGolden, WritesFilesThatAnotherReaderReads) {
  const std::string python = python_with("hashlib");
  if (python.empty()) GTEST_SKIP() << "did not run: python3 is not installed";
  Random random(3, "file");
  Network network({.inputs = 3, .hidden = {4}, .outputs = 2});
  network.initialise(random);
  TensorFile file;
  file.metadata["note"] = "a \"quoted\" word";
  put_network(file, network);
  file.put("state", std::vector<std::int64_t>{-1, 5});
  file.put("mean", std::vector<double>{0.1});
  const TemporaryFolder folder;
  const std::string path = folder.path + "/policy.safetensors";
  ASSERT_TRUE(write_safetensors(path, file));
  const std::string out = folder.path + "/out.json";
  const std::string command = python + " " + kFolder + "/read_safetensors.py " + path + " >" + out;
  ASSERT_EQ(std::system(command.c_str()), 0);
  const json read = json::parse(*read_file(out));
  EXPECT_EQ(read["metadata"].get<decltype(file.metadata)>(), file.metadata);
  EXPECT_EQ(read["tensors"]["state"]["values"], json({-1, 5}));
  EXPECT_EQ(read["tensors"]["mean"]["values"], json::array({0.1}));
  EXPECT_EQ(read["tensors"]["hidden.0.weight"]["shape"], json({3, 4}));
  const auto weights = read["tensors"]["hidden.0.weight"]["values"].get<std::vector<float>>();
  for (std::size_t i = 0; i < weights.size(); ++i) {
    EXPECT_EQ(weights[i], network.parameters()[network.layers()[0].weights + i]);
  }
}

}  // namespace
}  // namespace smartmig
