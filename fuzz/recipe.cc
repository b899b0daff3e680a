#include "learn/recipe.h"

#include "check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace smartmig;
  const auto recipe = parse_recipe(as_text(data, size), "fuzz");
  check_error(recipe);
  if (!recipe) return 0;
  SM_CHECK(recipe->ppo || recipe->evolution);
  SM_CHECK(!recipe->ppo || recipe->ppo->iterations() > 0);
  return 0;
}
