#include "cli/cli.h"

int main(int argc, char** argv) { return smartmig::run_cli(argc, argv); }
