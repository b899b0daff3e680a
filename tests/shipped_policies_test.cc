// Shipped policies against the recipes that made them: a recipe that changes without its policy, or
// a policy that was made by another one, fails here. That a recipe gives its policy's bytes takes
// minutes and is measured by script/bench.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "base/file.h"
#include "base/shipped.h"
#include "learn/recipe.h"
#include "nn/safetensors.h"

namespace smartmig {
namespace {

constexpr std::string_view kPolicySuffix = ".safetensors";

const std::filesystem::path kRecipes = std::filesystem::path(SMARTMIG_DATA) / "recipes";

// "two-level" of "two-level-placer.safetensors": two levels are two files by one recipe.
std::string recipe_name(std::string_view file) {
  file.remove_suffix(kPolicySuffix.size());
  for (const std::string_view level : {"-layouts", "-placer"}) {
    if (file.ends_with(level)) file.remove_suffix(level.size());
  }
  return std::string(file);
}

std::vector<ShippedFile> shipped_policies() {
  std::vector<ShippedFile> policies;
  for (const ShippedFile& file : shipped_files()) {
    if (file.name.ends_with(kPolicySuffix)) policies.push_back(file);
  }
  return policies;
}

TEST(ShippedPolicies, HoldTheRecipeThatIsShipped) {
  for (const ShippedFile& policy : shipped_policies()) {
    const auto file = decode_safetensors(policy.bytes, policy.name);
    ASSERT_TRUE(file) << file.error().message;
    const auto recipe = read_file(kRecipes / (recipe_name(policy.name) + ".toml"));
    ASSERT_TRUE(recipe) << recipe.error().message;
    const auto held = file->text("recipe", policy.name);
    ASSERT_TRUE(held) << held.error().message;
    EXPECT_EQ(*held, *recipe) << policy.name;
  }
}

TEST(ShippedPolicies, AreThereForEveryRecipe) {
  // Its settings are another project's, to compare with.
  std::set<std::string> made = {"placement-course"};
  for (const ShippedFile& policy : shipped_policies()) made.insert(recipe_name(policy.name));
  std::set<std::string> recipes;
  for (const auto& entry : std::filesystem::directory_iterator(kRecipes)) {
    recipes.insert(entry.path().stem().string());
    const auto recipe = read_recipe(entry.path().string());
    EXPECT_TRUE(recipe) << recipe.error().message;
  }
  EXPECT_EQ(made, recipes);
}

}  // namespace
}  // namespace smartmig
