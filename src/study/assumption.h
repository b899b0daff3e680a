// What a result rests on that its numbers do not show. Every page and the JSON list all of them.
#pragma once

#include <string>

namespace smartmig {

struct Assumption {
  std::string what;    // "deadlines": a short name, unique in a list.
  std::string text;    // "submit + U(2, 6) x the time on 7g"
  std::string option;  // "--deadlines", which changes it; "": nothing does.
};

}  // namespace smartmig
