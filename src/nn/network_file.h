// A network and what it needs to be used, as tensors of a file: one pair NAME.weight, NAME.bias for
// each layer, the normaliser's mean and scale, the shape in the metadata.
#pragma once

#include <string_view>

#include "nn/network.h"
#include "nn/normaliser.h"
#include "nn/safetensors.h"

namespace smartmig {

void put_network(TensorFile& file, const Network& network);
Result<Network> get_network(const TensorFile& file, std::string_view name);

void put_normaliser(TensorFile& file, const Normaliser& normaliser);
Result<Normaliser> get_normaliser(const TensorFile& file, int width, std::string_view name);

}  // namespace smartmig
