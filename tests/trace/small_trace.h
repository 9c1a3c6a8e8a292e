#pragma once

#include <limits>
#include <sstream>

#include "heed/base/file.h"
#include "heed/trace/trace.h"
#include "heed/trace/trace_json.h"

namespace heed::test {

// "the cats" to "le 猫 chats": two words of which the second has two pieces, and three; with every part of a trace.
inline Trace small_trace() {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  Trace trace =
      pair_trace({"the cats",
                  {{"▁the", 0, 3, 0}, {"▁cat", 4, 7, 1}, {"s", 7, 8, 1}, {"</s>", 8, 8, -1}},
                  {{"the", 0, 3}, {"cats", 4, 8}}},
                 {"le 猫 chats",
                  {{"▁le", 0, 2, 0}, {"▁猫", 3, 4, 1}, {"▁ch", 5, 7, 2}, {"ats", 7, 10, 2}, {"</s>", 10, 10, -1}},
                  {{"le", 0, 2}, {"猫", 3, 4}, {"chats", 5, 10}}});
  trace.model = "demo";
  trace.system = "transformer";
  trace.alignment = Tensor(Shape{5, 4}, {Real{0.5F},
                                         Real{0.25F},
                                         Real{0.125F},
                                         Real{0.125F},  //
                                         0,
                                         Real{0.5F},
                                         Real{0.25F},
                                         Real{0.25F},  //
                                         0,
                                         Real{0.75F},
                                         Real{0.25F},
                                         0,  //
                                         Real{0.5F},
                                         0,
                                         Real{0.25F},
                                         Real{0.25F},  //
                                         0,
                                         0,
                                         0,
                                         1});
  trace.log_probabilities = {-0.5, -0.25, -1, -2, -0.125};
  Tensor heads(Shape{2, 5, 4}, Real{0});
  for (Index t = 0; t < 5; ++t) {
    heads.data()[t * 4] = 1;                               // the first looks at the first token
    heads.data()[20 + t * 4 + std::min<Index>(t, 3)] = 1;  // the second goes along
  }
  trace.attentions.push_back({"decoder.layer1.source", 1, "target", "source", heads});
  trace.attentions.push_back({"decoder.layer2.source", 2, "target", "source", Tensor(Shape{2, 5, 4}, Real{0.25F})});
  Tensor self(Shape{1, 4, 4}, Real{0});
  for (Index s = 0; s < 4; ++s) self.data()[s * 4 + (s + 1) % 4] = 1;
  trace.attentions.push_back({"encoder.layer1.self", 1, "source", "source", self});
  trace.beam = {{{"▁le", 0, -0.5, -0.5, false, true}, {"▁la", 0, -2, -2, false, false}},
                {{"▁猫", 0, -0.75, -0.7, false, true}}};
  trace.trust.push_back({.entropy = {1.2, 1, 0.5, 1, 0},
                         .gradient_agreement = 0.4,
                         .leave_one_out_agreement = none,
                         .comprehensiveness = 0.6,
                         .sufficiency = 0.1});
  return trace;
}

// "good" of the document "a fine film", whose last word has two pieces.
inline Trace label_trace() {
  Trace trace;
  trace.model = "films", trace.system = "hierarchical", trace.job = "classification";
  trace.axes = {
      {.name = "document",
       .kind = Kind::document,
       .text = {"a fine film",
                {{"▁a", 0, 1, 0}, {"▁fine", 2, 6, 1}, {"▁fi", 7, 9, 2}, {"lm", 9, 11, 2}, {"</s>", 11, 11, -1}},
                {{"a", 0, 1}, {"fine", 2, 6}, {"film", 7, 11}}}},
      {.name = "label", .kind = Kind::label, .text = {"good", {{"good", 0, 4, -1}}, {}}}};
  trace.rows = "label", trace.columns = "document";
  trace.alignment = Tensor(Shape{1, 5}, {Real{0.0625F}, Real{0.5F}, Real{0.125F}, Real{0.125F}, Real{0.1875F}});
  trace.choices = {{"good", 0.875}, {"bad", 0.125}};
  trace.attentions.push_back({"words", 1, "label", "document", trace.alignment.reshape(Shape{1, 1, 5})});
  trace.trust.push_back({.entropy = {1.3}, .comprehensiveness = 0.5, .random_comprehensiveness = 0.25});
  return trace;
}

// The traces of tests/trace/data/version2.json: of an entailment, a caption and a recognised sound.
inline std::vector<Trace> traces_of_version_2() {
  std::vector<Trace> traces;
  std::istringstream lines(read_file(HEED_SOURCE_DIR "/tests/trace/data/version2.json"));
  for (std::string line; std::getline(lines, line);) traces.push_back(trace_from_json(line, "version2.json"));
  return traces;
}

}  // namespace heed::test
