// Names of CLI11 for headers: who only passes a parser on need not read all of the library.
#pragma once

namespace CLI {
class App;
class ParseError;
}  // namespace CLI
