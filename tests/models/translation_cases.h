#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/variant_cases.h"

// Every system that reads one input and writes words, at a tiny size, in the variants that its options allow. A new
// system is tested by being registered. Tests write inputs as words: one that reads images or sounds gets a vector for
// each word, as if it were a region or a frame.

namespace heed::test {

constexpr Index kSourceWords = 11, kTargetWords = 11;  // of features, kSourceWords is their width

// Every system as it is, then with each of its options, and with each part of attention where it takes any.
std::vector<SystemVariant> every_variant();
// The systems as they are.
std::vector<SystemVariant> every_system();

// The `small` preset with its widths shrunk; dropout is off unless set.
std::unique_ptr<Config> tiny_config(const SystemVariant& variant, Index width = 4);

// The model of a system, which writes words.
std::unique_ptr<Writer> make_writer(const std::string& system, const Scope& scope, const Config& config);

// A model with its parameters, all of them random: some start at zero, where faults hide.
struct TinyModel {
  explicit TinyModel(const SystemVariant& variant, std::uint64_t seed = 1);
  Parameters parameters;
  std::unique_ptr<Writer> model;
};

// Sentences of the given words, padded with `padding`.
Source sentences(const std::vector<std::vector<std::int32_t>>& words, std::int32_t padding = 0);
// The same words as the system reads them: of one that reads no texts each word, in the padding too, is a vector.
Source as_read_by(const SystemVariant& variant, const Source& words);
// The words that follow `previous`, -1 in the padding.
Ids expected_after(const Source& previous);

// A batch with unequal lengths, a source of one word among them.
Source some_sources(std::int32_t padding = 0);
Source some_previous(std::int32_t padding = 0);

}  // namespace heed::test
