#include "learn/train.h"

#include <filesystem>

#include "learn/knob_training.h"
#include "learn/training_checkpoint.h"
#include "learn/training_stages.h"
#include "nn/network_file.h"

namespace smartmig {
namespace {

namespace fs = std::filesystem;

// A training by PPO, from its first stage or a checkpoint to its end or a stop.
class Training {
 public:
  Training(const Recipe& recipe, const std::string& text, const TrainingOptions& options)
      : recipe_(recipe), options_(options), pool_(options.threads) {
    so_far_.recipe = text;
  }

  Result<TrainingResult> run() {
    const std::vector<std::string> names = stage_names(recipe_);
    // Errors of a recipe come before the first step of anything.
    auto stage = make_stage(recipe_, names.front(), {});
    if (!stage) return pass_on(stage);
    TensorFile checkpoint;
    if (options_.resume) {
      auto read = read_safetensors(checkpoint_path(options_.out));
      if (!read) return pass_on(read);
      checkpoint = std::move(*read);
      if (auto got = get_training(checkpoint, checkpoint_path(options_.out), so_far_); !got)
        return pass_on(got);
      if (so_far_.stage >= std::ssize(names))
        return fail("{}: is at stage {}, expected at most {}", checkpoint_path(options_.out),
                    so_far_.stage, names.size() - 1);
    }
    for (; so_far_.stage < std::ssize(names); ++so_far_.stage) {
      const std::string& name = names[static_cast<std::size_t>(so_far_.stage)];
      if (so_far_.stage > 0) {
        stage = make_stage(recipe_, name, so_far_.levels);
        if (!stage) return pass_on(stage);
      }
      const auto ended = run_stage(*stage, name, std::exchange(checkpoint, {}));
      if (!ended) return pass_on(ended);
      result_.baseline = stage->baseline;
      result_.baseline_et = stage->baseline_et;
      if (!*ended) return finish({checkpoint_path(options_.out)}, false);
    }
    return write_policies();
  }

 private:
  // Whether the stage came to its end.
  Result<bool> run_stage(const Stage& stage, const std::string& name,
                         const TensorFile& checkpoint) {
    Ppo ppo(*recipe_.ppo, recipe_.network, *stage.environment, pool_);
    if (const auto before = so_far_.levels.find(name); before != so_far_.levels.end())
      ppo.begin_with(before->second.policy.network, before->second.observations);
    if (!checkpoint.tensors.empty()) {
      if (auto taken = ppo.resume(checkpoint, checkpoint_path(options_.out)); !taken)
        return pass_on(taken);
    }
    const auto past_iterations =
        static_cast<std::int64_t>(so_far_.stage) * recipe_.ppo->iterations();
    const std::int64_t past_steps = past_iterations * recipe_.ppo->rollout_rows();
    while (!ppo.done()) {
      PpoProgress row = ppo.iterate();
      row.iteration += past_iterations;
      row.steps += past_steps;
      so_far_.curve.push_back(row);
      stop_ = stop_ || (options_.stop && options_.stop()) ||
              (options_.stop_after > 0 && row.iteration >= options_.stop_after);
      if (options_.watch) {
        const auto all = std::ssize(stage_names(recipe_)) * recipe_.ppo->iterations();
        options_.watch({name, all, stage.baseline_et, row});
      }
      if (!ppo.can_be_saved()) continue;
      TensorFile file = ppo.checkpoint();
      put_training(file, so_far_);
      if (auto written = write_safetensors(checkpoint_path(options_.out), file); !written)
        return pass_on(written);
      if (stop_) return false;
    }
    TensorFile policy;
    ppo.put_policy(policy);
    put_settings(policy, stage.learned);
    auto learned = get_policy(policy, name);
    if (!learned) return pass_on(learned);
    so_far_.levels.insert_or_assign(name,
                                    TrainedLevel{std::move(*learned), ppo.state().observations});
    return true;
  }

  Result<TrainingResult> write_policies() {
    std::vector<std::string> files;
    for (const auto& [name, level] : so_far_.levels) {
      TensorFile file;
      put_policy(file, level.policy);
      file.metadata["recipe"] = so_far_.recipe;
      files.push_back(so_far_.levels.size() == 1 ? options_.out : level_path(options_.out, name));
      if (auto written = write_safetensors(files.back(), file); !written) return pass_on(written);
    }
    std::error_code ignored;  // One that cannot be removed does no harm.
    fs::remove(checkpoint_path(options_.out), ignored);
    return finish(std::move(files), true);
  }

  TrainingResult finish(std::vector<std::string> files, bool done) {
    result_.done = done;
    result_.files = std::move(files);
    result_.curve = std::move(so_far_.curve);
    return std::move(result_);
  }

  const Recipe& recipe_;
  const TrainingOptions& options_;
  WorkerPool pool_;
  TrainingState so_far_;
  TrainingResult result_;
  bool stop_ = false;
};

// Nobody's minutes are overwritten by a training that begins anew.
Result<void> check_no_checkpoint(const TrainingOptions& options) {
  if (options.resume || !fs::exists(checkpoint_path(options.out))) return {};
  return fail("{}: a training was stopped there, expected --resume or that the file is removed",
              checkpoint_path(options.out));
}

}  // namespace

std::string checkpoint_path(const std::string& out) { return out + ".checkpoint"; }

std::string level_path(const std::string& out, const std::string& level) {
  constexpr std::string_view kEnd = ".safetensors";
  const std::string stem = out.ends_with(kEnd) ? out.substr(0, out.size() - kEnd.size()) : out;
  return fmt::format("{}-{}{}", stem, level, kEnd);
}

Result<TrainingResult> train(const Recipe& recipe, const std::string& text,
                             const TrainingOptions& options) {
  if (!recipe.ppo || recipe.policy.kind == PolicyKind::kSmartmig) {
    return fail("policy.kind: a {} policy is not learned by {}", to_string(recipe.policy.kind),
                recipe.ppo ? "[ppo]" : "[evolution]");
  }
  if (const auto checked = check_no_checkpoint(options); !checked) return pass_on(checked);
  return Training(recipe, text, options).run();
}

Result<KnobResult> train_knobs(const Recipe& recipe, const std::string& text,
                               const TrainingOptions& options, const KnobWatch& seen) {
  auto training = KnobTraining::make(recipe, text);
  if (!training) return pass_on(training);
  if (const auto checked = check_no_checkpoint(options); !checked) return pass_on(checked);
  const std::string path = checkpoint_path(options.out);
  if (options.resume) {
    const auto file = read_safetensors(path);
    if (!file) return pass_on(file);
    if (const auto taken = training->resume(*file, path); !taken) return pass_on(taken);
  }
  WorkerPool pool(options.threads);
  while (!training->done()) {
    training->step(pool);
    if (seen) seen(training->curve().back(), training->generations());
    if (const auto written = write_safetensors(path, training->checkpoint()); !written)
      return pass_on(written);
    const bool stop =
        (options.stop && options.stop()) ||
        (options.stop_after > 0 && std::ssize(training->curve()) >= options.stop_after);
    if (stop && !training->done()) return KnobResult{false, training->curve(), path};
  }
  if (const auto written = write_safetensors(options.out, training->policy()); !written)
    return pass_on(written);
  std::error_code ignored;
  fs::remove(path, ignored);
  return KnobResult{true, training->curve(), options.out};
}

}  // namespace smartmig
