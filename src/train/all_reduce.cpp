#include "heed/train/all_reduce.h"

namespace heed {

void all_reduce(AllReduce& ranks, const Parameters& parameters, Gradients& gradients, double& loss, bool failed) {
  if (ranks.size() == 1) return;
  const auto& entries = parameters.entries();
  std::vector<Real> notes;  // 1 for every gradient present, the loss, 1 for a failure
  for (const Parameters::Entry& entry : entries) {
    const Gradient* gradient = gradients.find(entry.var);
    notes.push_back(gradient && !gradient->empty() ? Real{1} : Real{0});
  }
  notes.push_back(static_cast<Real>(loss));
  notes.push_back(failed ? Real{1} : Real{0});
  const std::span<Real> note_buffer(notes);
  ranks.sum({&note_buffer, 1});
  require(notes.back() == 0, "[workers] {} of {} ranks failed in this step", notes.back(), ranks.size());
  loss = static_cast<double>(notes[entries.size()]);

  Gradients sums;
  std::vector<std::span<Real>> buffers;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (notes[i] == 0) continue;
    const Var& var = entries[i].var;
    Gradient* gradient = gradients.find(var);
    Tensor dense = gradient ? std::exchange(*gradient, {}).to_dense(var.shape()) : Tensor(var.shape(), Real{0});
    if (!dense.unique() || !dense.contiguous_layout()) dense = dense.copy();
    buffers.push_back(dense.values());
    sums.add(var, std::move(dense));
  }
  ranks.sum(buffers);
  gradients = std::move(sums);
}

}  // namespace heed
