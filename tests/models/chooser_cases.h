#pragma once

#include <memory>
#include <vector>

#include "heed/models/system.h"
#include "models/variant_cases.h"

// Every system that chooses labels from texts at a tiny size, in the variants that its options allow. A new one is
// tested by being registered.

namespace heed::test {

constexpr Index kChooserWords = 11, kLabels = 3;

// A system for one text or for two, as it is, with each of its options, and with each part of attention where it takes
// any.
struct ChooserVariant {
  SystemVariant variant;
  std::size_t inputs = 1;
  bool choices = false;  // it chooses from what each sample has, not labels
};
std::ostream& operator<<(std::ostream& out, const ChooserVariant& variant);
std::vector<ChooserVariant> every_chooser_variant();
std::string test_name(const ChooserVariant& variant);

// A model with its parameters, all of them random.
struct TinyChooser {
  explicit TinyChooser(const ChooserVariant& variant, std::uint64_t seed = 1);
  // The same in eight bits, to be run.
  static std::unique_ptr<TinyChooser> in_eight_bits(const ChooserVariant& variant, std::uint64_t seed = 1);
  Parameters parameters;
  std::unique_ptr<Model> model;
  const Chooser* chooser = nullptr;

 private:
  TinyChooser() = default;
  void make(const ChooserVariant& variant);
};

void set_to_zero(Parameters& parameters, const std::string& name);
// Gives every parameter of `to` the value of that of the same name.
void copy_parameters(const Parameters& from, const Parameters& to);

// Three samples of unequal lengths, one of them of nothing but the end; a document's sentences end where it says.
std::vector<Source> some_texts(std::size_t inputs, std::int32_t padding = 0);
// The same; of one that chooses from what each sample has, with five, three and two choices.
std::vector<Source> some_texts(const ChooserVariant& variant, std::int32_t padding = 0);
// The b-th sample of a batch alone.
std::vector<Source> only_sample(const std::vector<Source>& all, Index b);

}  // namespace heed::test
