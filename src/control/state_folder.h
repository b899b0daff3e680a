// The folder of a controller's journal and of its simulated fleet. A user who can write there
// decides what the controller believes, so a folder that others can write is refused.
#pragma once

#include <string>

#include "base/result.h"

namespace smartmig {

// Good where the folder is not there yet. The error is one line that says what to change. Looks,
// and changes nothing.
Result<void> check_state_folder(const std::string& path);

// Whether its owner can write to it: the error says why not. The folder is there.
Result<void> check_state_folder_writable(const std::string& path);

}  // namespace smartmig
