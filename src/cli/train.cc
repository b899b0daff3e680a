// `smartmig train`: a policy from a recipe.
#include "learn/train.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/progress.h"
#include "cli/cli.h"
#include "cli/help.h"
#include "learn/learning_curve.h"

namespace smartmig {
namespace {

struct TrainOptions {
  std::string recipe;
  std::string out;
  std::string curve;
  bool resume = false;
  std::int64_t stop_after = 0;
  int threads = 0;
  bool json = false;
};

// All that a signal may touch.
std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free);

// The first SIGINT or SIGTERM asks for a stop; the second ends the program as ever.
void stop_on_signals() {
  struct sigaction action = {};
  action.sa_handler = [](int) { interrupted = true; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
}

// What is known of a training so far, as a line of progress.
class TrainingLine {
 public:
  void set(std::string text) {
    const std::lock_guard lock(mutex_);
    text_ = std::move(text);
  }

 private:
  std::string shown(double elapsed_s) {
    const std::lock_guard lock(mutex_);
    const std::string text =
        text_.empty() ? fmt::format("train: before the first iteration, {:.0f} s", elapsed_s)
                      : text_;
    return text + (interrupted ? "; stops at the end of its block" : "");
  }

  std::mutex mutex_;
  std::string text_;  // Guarded by mutex_.
  ProgressLine line_{[this](double elapsed_s) { return shown(elapsed_s); }};
};

// Iterations of PPO.
class Watch {
 public:
  void operator()(const TrainingRow& row) {
    if (row.progress.episodes > 0) last_ = row.progress;
    std::string et = "-";
    if (last_.episodes > 0) {
      et = fmt::format("return {:.4g}, ET {:.4g} ({:+.1f} % of {:.4g})", last_.mean_return,
                       last_.mean_et, 100 * (last_.mean_et / row.baseline_et - 1), row.baseline_et);
    }
    const PpoProgress& p = row.progress;
    line_.set(fmt::format("train: {} of {}, {}; {}; entropy {:.3f}, KL {:.4f}, {:.0f} steps/s",
                          p.iteration, row.iterations, row.stage, et, p.entropy, p.kl,
                          p.steps_per_s));
  }

 private:
  PpoProgress last_;  // With an episode that ended.
  TrainingLine line_;
};

void print(const TrainOptions& options, const TrainingResult& result, double wall_s) {
  const PpoProgress& last = result.curve.back();
  // Of the last tenth: single iterations see few days to their end.
  double et = 0;
  double episodes = 0;
  for (std::size_t i = result.curve.size() * 9 / 10; i < result.curve.size(); ++i) {
    et += result.curve[i].mean_et * static_cast<double>(result.curve[i].episodes);
    episodes += static_cast<double>(result.curve[i].episodes);
  }
  const bool known = episodes > 0;
  et = known ? et / episodes : 0;
  if (options.json) {
    nlohmann::ordered_json object = {
        {"done", result.done},
        {"files", result.files},
        {"iterations", last.iteration},
        {"steps", last.steps},
        {"train_et", known ? nlohmann::ordered_json(et) : nlohmann::ordered_json(nullptr)},
        {"baseline", result.baseline},
        {"baseline_et", result.baseline_et},
        {"wall_s", wall_s}};
    fmt::print("{}\n", object.dump(2));
    return;
  }
  for (const std::string& file : result.files) fmt::print("{}\n", file);
  fmt::print("{} iterations, {} steps.\n", last.iteration, last.steps);
  if (!known) return;
  fmt::print(
      "ET on training days, over the last tenth of them, options drawn: {:.4g}; {}: {:.4g}.\n", et,
      result.baseline, result.baseline_et);
}

// Generations of evolution; scores are means of ln(ET), on other days in each.
class KnobProgress {
 public:
  void operator()(const EvolutionProgress& row, std::int64_t generations) {
    line_.set(fmt::format("train: generation {} of {}, best {:.4f}, median {:.4f}, sigma {:.3f}",
                          row.generation, generations, row.best, row.median, row.sigma));
  }

 private:
  TrainingLine line_;
};

int say_how_to_resume(std::int64_t iterations, const TrainOptions& options) {
  std::fflush(stdout);
  return failed(
      fmt::format("stopped after {} iterations; continue with: smartmig train --recipe {} "
                  "--out {} --resume",
                  iterations, options.recipe, options.out));
}

int run_knobs(const TrainOptions& options, const Recipe& recipe, const std::string& text,
              const TrainingOptions& training) {
  const auto start = std::chrono::steady_clock::now();
  bool begun = false;
  const auto result = [&] {
    KnobProgress progress;
    return train_knobs(recipe, text, training,
                       [&](const EvolutionProgress& row, std::int64_t generations) {
                         begun = true;
                         progress(row, generations);
                       });
  }();
  if (!result) return begun ? failed(result.error().message) : bad_input(result.error().message);
  if (!options.curve.empty()) {
    if (const auto written = write_file(options.curve, curve_csv(result->curve)); !written)
      return failed(written.error().message);
  }
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  const EvolutionProgress last = result->curve.empty() ? EvolutionProgress() : result->curve.back();
  if (options.json) {
    const nlohmann::ordered_json object = {{"done", result->done},
                                           {"files", {result->file}},
                                           {"iterations", last.generation},
                                           {"evaluations", last.evaluations},
                                           {"wall_s", wall.count()}};
    fmt::print("{}\n", object.dump(2));
  } else {
    fmt::print("{}\n{} generations, {} evaluations.\n", result->file, last.generation,
               last.evaluations);
  }
  return result->done ? 0 : say_how_to_resume(last.generation, options);
}

int run_train(TrainOptions options) {
  if (options.threads < 0 || options.threads > 1024) {
    return bad_input(fmt::format("--threads: found {}, expected 0 (one for each core) to 1024",
                                 options.threads));
  }
  if (options.stop_after < 0)
    return bad_input(fmt::format("--stop-after: found {}, expected 0 or more", options.stop_after));
  const auto text = read_file(options.recipe, kDocumentLimits);
  if (!text) return bad_input(text.error().message);
  const auto recipe = parse_recipe(*text, options.recipe);
  if (!recipe) return bad_input(recipe.error().message);
  if (options.out.empty())
    options.out = std::filesystem::path(options.recipe).stem().string() + ".safetensors";
  // Minutes of work must not end at a folder that is not there.
  for (const std::string& file : {options.out, options.curve}) {
    const auto folder = std::filesystem::path(file).parent_path();
    if (!folder.empty() && !std::filesystem::is_directory(folder))
      return bad_input(fmt::format("{}: there is no folder {}", file, folder.string()));
  }

  stop_on_signals();
  TrainingOptions training;
  training.out = options.out;
  training.threads = options.threads;
  training.resume = options.resume;
  training.stop_after = options.stop_after;
  training.stop = [] { return interrupted.load(); };
  if (recipe->policy.kind == PolicyKind::kSmartmig)
    return run_knobs(options, *recipe, *text, training);
  const auto start = std::chrono::steady_clock::now();
  bool begun = false;
  const auto result = [&] {
    Watch watch;
    training.watch = [&](const TrainingRow& row) {
      begun = true;
      watch(row);
    };
    return train(*recipe, *text, training);
  }();
  if (!result) return begun ? failed(result.error().message) : bad_input(result.error().message);
  if (!options.curve.empty()) {
    if (const auto written = write_file(options.curve, curve_csv(result->curve)); !written)
      return failed(written.error().message);
  }
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  print(options, *result, wall.count());
  return result->done ? 0 : say_how_to_resume(result->curve.back().iteration, options);
}

}  // namespace

void add_train(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("train", "Learn a policy from a recipe");
  const auto options = std::make_shared<TrainOptions>();
  command
      ->add_option("--recipe", options->recipe, "What to learn, and how (docs/formats/recipe.md)")
      ->required();
  command->add_option("--out", options->out,
                      "The policy file; two levels: two, with -layouts and -placer in their names "
                      "(RECIPE.safetensors, here)");
  command->add_option("--curve", options->curve, "A CSV file for the learning curve");
  command->add_flag("--resume", options->resume, "Continue from the checkpoint beside --out");
  command->add_option(
      "--stop-after", options->stop_after,
      "Stop after N iterations, as Ctrl-C does; continue with --resume (default: 0, never)");
  command->add_option("--threads", options->threads, "Threads; 0: one for each core (default: 0)");
  command->add_flag("--json", options->json, "Print JSON");
  command->footer(
      "Ctrl-C (SIGINT) and SIGTERM end the current block of iterations, write a checkpoint and "
      "exit\n"
      "with status 1. A second signal exits at once; the checkpoint is then that of the block "
      "before.");
  add_examples(*command,
               {{"Train the shipped policy mean-field again",
                 "smartmig train --recipe data/recipes/mean-field.toml --out mine.safetensors"}});
  command->callback([options, &action] { action = [options] { return run_train(*options); }; });
}

}  // namespace smartmig
