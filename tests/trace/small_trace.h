#pragma once

#include <limits>

#include "heed/trace/trace.h"

namespace heed::test {

// "the cats" to "le 猫 chats": two words of which the second has two pieces, and three; with every part of a trace.
inline Trace small_trace() {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  Trace trace;
  trace.model = "demo";
  trace.system = "transformer";
  trace.source = {"the cats",
                  {{"▁the", 0, 3, 0}, {"▁cat", 4, 7, 1}, {"s", 7, 8, 1}, {"</s>", 8, 8, -1}},
                  {{"the", 0, 3}, {"cats", 4, 8}}};
  trace.target = {"le 猫 chats",
                  {{"▁le", 0, 2, 0}, {"▁猫", 3, 4, 1}, {"▁ch", 5, 7, 2}, {"ats", 7, 10, 2}, {"</s>", 10, 10, -1}},
                  {{"le", 0, 2}, {"猫", 3, 4}, {"chats", 5, 10}}};
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
  trace.attentions.push_back({"decoder.layer1.source", 1, TraceSide::target, TraceSide::source, heads});
  trace.attentions.push_back(
      {"decoder.layer2.source", 2, TraceSide::target, TraceSide::source, Tensor(Shape{2, 5, 4}, Real{0.25F})});
  Tensor self(Shape{1, 4, 4}, Real{0});
  for (Index s = 0; s < 4; ++s) self.data()[s * 4 + (s + 1) % 4] = 1;
  trace.attentions.push_back({"encoder.layer1.self", 1, TraceSide::source, TraceSide::source, self});
  trace.beam = {{{"▁le", 0, -0.5, -0.5, false, true}, {"▁la", 0, -2, -2, false, false}},
                {{"▁猫", 0, -0.75, -0.7, false, true}}};
  trace.trust.push_back({{1.2, 1, 0.5, 1, 0}, 0.4, none, 0.6, 0.1, none});
  return trace;
}

}  // namespace heed::test
