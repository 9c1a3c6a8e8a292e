#include "heed/kernels/convolution.h"

#ifndef HEED_DOUBLE
#include <oneapi/dnnl/dnnl.hpp>
#endif

#include <algorithm>
#include <map>
#include <memory>
#include <unordered_map>

#include "heed/base/one_thread.h"
#include "heed/base/threads.h"
#include "heed/kernels/elementwise.h"
#include "heed/kernels/gemm.h"
#include "heed/kernels/ref/convolution.h"

namespace heed::kernels {

// conv1d is one matrix product over columns: row (b, o) of the columns lists the inputs that output o reads, tap after
// tap, so that y [batch·output, out] = columns [batch·output, kernel·in] · w [kernel·in, out]. At batch 32, time 30,
// 256→512, kernel 3, forward and both gradients together take 0.94 of the time of oneDNN's convolution primitives, and
// no primitive has to be made for every new length of a batch. The columns are built in pieces that stay in the cache.
namespace {

constexpr Index kColumnElements = 192 * 1024, kFewestRows = 128;
constexpr Index kGrain = 32 * 1024;  // numbers moved that are worth a thread

Index width(const Conv1dSizes& s) { return s.time.kernel * s.in; }
Index rows(const Conv1dSizes& s) { return s.batch * s.time.output; }
Index rows_at_once(const Conv1dSizes& s) {
  return std::min(rows(s), std::max(kFewestRows, kColumnElements / std::max<Index>(width(s), 1)));
}
// Whether the input is its own columns.
bool plain(const Conv1dSizes& s) {
  return s.time.kernel == 1 && s.time.stride == 1 && s.time.before == 0 && s.time.output == s.time.input;
}

template <class Body>
void for_each_piece(const Conv1dSizes& s, const Body& body) {
  const Index step = rows_at_once(s);
  for (Index begin = 0; begin < rows(s); begin += step) body(begin, std::min(rows(s), begin + step));
}

// Calls body(tap, input, count) for runs of `count` taps whose inputs are neighbours: x and the columns hold them in
// the same order.
template <class Body>
void for_each_run(const Conv1dSizes& s, Index row, const Body& body) {
  const Index sequence = row / s.time.output * s.time.input, o = row % s.time.output;
  const auto [begin, end] = s.time.inside(o);
  const Index run = s.time.dilation == 1 ? std::max<Index>(1, end - begin) : 1;
  for (Index tap = begin; tap < end; tap += run) body(tap, sequence + s.time.position(o, tap), run);
}

const Real* columns(const Conv1dSizes& s, Index begin, Index end, const Real* x, Real* scratch) {
  if (plain(s)) return x + begin * s.in;
  parallel_for(end - begin, std::max<Index>(1, kGrain / std::max<Index>(width(s), 1)), [&](Index from, Index to) {
    for (Index row = from; row < to; ++row) {
      Real* column = scratch + row * width(s);
      Index filled = 0;
      for_each_run(s, begin + row, [&](Index tap, Index input, Index count) {
        std::fill(column + filled, column + tap * s.in, Real{0});
        std::copy_n(x + input * s.in, count * s.in, column + tap * s.in);
        filled = (tap + count) * s.in;
      });
      std::fill(column + filled, column + width(s), Real{0});
    }
  });
  return scratch;
}

// The reverse: adds every column to the input it was read from. A sequence belongs to one thread.
void add_columns(const Conv1dSizes& s, Index begin, Index end, const Real* scratch, Real* dx) {
  const Index length = s.time.output, first = begin / length, last = (end - 1) / length;
  parallel_for(last - first + 1, std::max<Index>(1, kGrain / std::max<Index>(length * width(s), 1)),
               [&](Index from, Index to) {
                 const Index stop = std::min(end, (first + to) * length);
                 for (Index row = std::max(begin, (first + from) * length); row < stop; ++row)
                   for_each_run(s, row, [&](Index tap, Index input, Index count) {
                     accumulate(count * s.in, scratch + (row - begin) * width(s) + tap * s.in, dx + input * s.in);
                   });
               });
}

}  // namespace

Index conv1d_scratch(const Conv1dSizes& s) { return plain(s) ? 0 : rows_at_once(s) * width(s); }

void conv1d(const Conv1dSizes& s, const Real* x, const Real* w, const Real* bias, Real* y, Real* scratch) {
  for_each_piece(s, [&](Index begin, Index end) {
    Real* out = y + begin * s.out;
    gemm(end - begin, s.out, width(s), 1, {columns(s, begin, end, x, scratch), width(s)}, {w, s.out}, 0, out, s.out);
    if (bias) bias_activation(Unary::identity, end - begin, s.out, out, bias, out);
  });
}

void conv1d_input_gradient(const Conv1dSizes& s, const Real* dy, const Real* w, Real* dx, Real* scratch) {
  if (!plain(s)) std::fill_n(dx, s.batch * s.time.input * s.in, Real{0});
  for_each_piece(s, [&](Index begin, Index end) {
    Real* to = plain(s) ? dx + begin * s.in : scratch;
    gemm(end - begin, width(s), s.out, 1, {dy + begin * s.out, s.out}, {w, s.out, true}, 0, to, width(s));
    if (!plain(s)) add_columns(s, begin, end, scratch, dx);
  });
}

void conv1d_weight_gradient(const Conv1dSizes& s, const Real* x, const Real* dy, Real* dw, Real* scratch) {
  if (rows(s) == 0) std::fill_n(dw, width(s) * s.out, Real{0});
  for_each_piece(s, [&](Index begin, Index end) {
    gemm(width(s), s.out, end - begin, 1, {columns(s, begin, end, x, scratch), width(s), true},
         {dy + begin * s.out, s.out}, begin == 0 ? 0 : 1, dw, s.out);
  });
}

#ifdef HEED_DOUBLE

Index conv2d_scratch(const Conv2dSizes&, ConvPass) { return 0; }
void conv2d(const Conv2dSizes& s, const Real* x, const Real* w, const Real* bias, Real* y, Real*) {
  ref::conv2d(s, x, w, bias, y);
}
void conv2d_input_gradient(const Conv2dSizes& s, const Real* dy, const Real* w, Real* dx, Real*) {
  ref::conv2d_input_gradient(s, dy, w, dx);
}
void conv2d_weight_gradient(const Conv2dSizes& s, const Real* x, const Real* dy, Real* dw, Real*) {
  ref::conv2d_weight_gradient(s, x, dy, dw);
}

#else

// conv2d runs on oneDNN's primitives over plain channels-last images; only the weight, which is small, is reordered to
// the blocked format that the primitive likes. At 16 × 32 × 32, 64→64, 3 × 3, forward and both gradients together take
// 0.88 of the time with blocked images (their reorders included) and 0.77 of the time of products over columns.
namespace {

// The primitive of one pass at one size, with its places for the pointers. Belongs to one thread.
class Plan {
 public:
  Plan(const Conv2dSizes& s, ConvPass pass) {
    using dnnl::memory;
    using Tag = memory::format_tag;
    const auto described = [](const memory::dims& dims, Tag tag) {
      return memory::desc(dims, memory::data_type::f32, tag);
    };
    const Window &h = s.height, &w = s.width;
    const memory::dims weight_dims{s.out, s.in, h.kernel, w.kernel}, strides{h.stride, w.stride},
        dilations{h.dilation - 1, w.dilation - 1}, before{h.before, w.before}, after{after_last(h), after_last(w)};
    const memory::desc image = described({s.batch, s.in, h.input, w.input}, Tag::nhwc),
                       result = described({s.batch, s.out, h.output, w.output}, Tag::nhwc),
                       weight = described(weight_dims, Tag::hwio), any_weight = described(weight_dims, Tag::any),
                       bias = s.biased ? described({s.out}, Tag::x) : memory::desc();
    const auto direct = dnnl::algorithm::convolution_direct;
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);

    const dnnl::convolution_forward::primitive_desc forward(
        {dnnl::prop_kind::forward_training, direct, image, any_weight, bias, result, strides, dilations, before, after},
        attributes, engine());
    switch (pass) {
      case ConvPass::forward:
        adopt<dnnl::convolution_forward>(forward, forward.weights_desc(), weight, true, attributes);
        break;
      case ConvPass::input_gradient: {
        const dnnl::convolution_backward_data::primitive_desc backward(
            {direct, image, any_weight, result, strides, dilations, before, after}, attributes, engine(), forward);
        adopt<dnnl::convolution_backward_data>(backward, backward.weights_desc(), weight, true, attributes);
        break;
      }
      case ConvPass::weight_gradient: {
        const dnnl::convolution_backward_weights::primitive_desc backward(
            {direct, image, any_weight, result, strides, dilations, before, after}, attributes, engine(), forward);
        adopt<dnnl::convolution_backward_weights>(backward, backward.diff_weights_desc(), weight, false, attributes);
        break;
      }
    }
    const bool of_image = pass == ConvPass::input_gradient, of_weight = pass == ConvPass::weight_gradient;
    image_ = place(of_image ? DNNL_ARG_DIFF_SRC : DNNL_ARG_SRC, image);
    result_ = place(pass == ConvPass::forward ? DNNL_ARG_DST : DNNL_ARG_DIFF_DST, result);
    arguments_[of_weight ? DNNL_ARG_DIFF_WEIGHTS : DNNL_ARG_WEIGHTS] = reordered_ ? blocked_ : weight_;
    if (s.biased && pass == ConvPass::forward) bias_ = place(DNNL_ARG_BIAS, bias);
  }

  Index scratch() const {
    return static_cast<Index>((workspace_at_ + workspace_bytes_ + sizeof(Real) - 1) / sizeof(Real));
  }

  void run(const Real* image, const Real* weight, const Real* bias, const Real* result, Real* scratch) {
    point(image_, image);
    point(weight_, weight);
    point(result_, result);
    if (bias) point(bias_, bias);
    if (reordered_) point(blocked_, scratch);
    point(workspace_, reinterpret_cast<const char*>(scratch) + workspace_at_);
    if (reordered_ && reorder_first_) reorder_.execute(stream_, reorder_arguments_);
    convolution_.execute(stream_, arguments_);
    if (reordered_ && !reorder_first_) reorder_.execute(stream_, reorder_arguments_);
    stream_.wait();
  }

 private:
  using Arguments = std::unordered_map<int, dnnl::memory>;

  static const dnnl::engine& engine() {
    static const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
    return cpu;
  }
  // Padding behind the last input; negative if a stride leaves inputs unread.
  static Index after_last(const Window& axis) {
    return axis.position(axis.output - 1, axis.kernel - 1) + 1 - axis.input;
  }
  static dnnl::memory unplaced(const dnnl::memory::desc& described) { return {described, engine(), DNNL_MEMORY_NONE}; }
  // oneDNN's memory has one type of pointer for what it reads and writes.
  static void point(dnnl::memory& to, const void* data) { to.set_data_handle(const_cast<void*>(data)); }

  dnnl::memory place(int argument, const dnnl::memory::desc& described) {
    return arguments_[argument] = unplaced(described);
  }

  template <class Primitive, class Description>
  void adopt(const Description& description, const dnnl::memory::desc& blocked, const dnnl::memory::desc& weight,
             bool reorder_first, const dnnl::primitive_attr& attributes) {
    convolution_ = Primitive(description);
    workspace_bytes_ = description.scratchpad_desc().get_size();
    weight_ = unplaced(weight);
    reordered_ = blocked != weight;
    reorder_first_ = reorder_first;
    dnnl::memory::desc workspace = description.scratchpad_desc();
    if (reordered_) {
      blocked_ = unplaced(blocked);
      const dnnl::memory &from = reorder_first ? weight_ : blocked_, &to = reorder_first ? blocked_ : weight_;
      const dnnl::reorder::primitive_desc change(from, to, attributes);
      reorder_ = dnnl::reorder(change);
      workspace_at_ = (blocked.get_size() + 63) / 64 * 64;
      // The two run one after the other and share the space.
      if (change.scratchpad_desc().get_size() > workspace_bytes_) workspace = change.scratchpad_desc();
      workspace_bytes_ = workspace.get_size();
      reorder_arguments_ = {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}};
    }
    workspace_ = unplaced(workspace);
    arguments_[DNNL_ARG_SCRATCHPAD] = workspace_;
    reorder_arguments_[DNNL_ARG_SCRATCHPAD] = workspace_;
  }

  dnnl::stream stream_{engine()};
  dnnl::primitive convolution_, reorder_;
  bool reordered_ = false, reorder_first_ = false;
  std::size_t workspace_at_ = 0, workspace_bytes_ = 0;
  dnnl::memory image_, weight_, blocked_, bias_, result_, workspace_;
  Arguments arguments_, reorder_arguments_;
};

struct PlanKey {
  Conv2dSizes sizes;
  ConvPass pass;
  int threads;  // a primitive is made for as many threads as there are then

  auto operator<=>(const PlanKey&) const = default;
};

// This thread's plan, or null where oneDNN has none. A bounded number is kept; beyond it all are made anew, from
// oneDNN's own cache where possible.
Plan* plan_of(const Conv2dSizes& s, ConvPass pass) {
  constexpr std::size_t kMostPlans = 256;
  if (s.batch == 0 || s.in == 0 || s.out == 0) return nullptr;
  try {
    thread_local std::map<PlanKey, std::unique_ptr<Plan>> plans;
    const PlanKey key{s, pass, detail::available_threads()};
    if (const auto known = plans.find(key); known != plans.end()) return known->second.get();
    if (plans.size() >= kMostPlans) plans.clear();
    std::unique_ptr<Plan>& plan = plans[key];  // stays null if oneDNN refuses
    plan = std::make_unique<Plan>(s, pass);
    return plan.get();
  } catch (const std::exception&) {
    return nullptr;
  }
}

struct Pointers {
  const Real *image, *weight, *bias, *result;
};

bool run_plan(const Conv2dSizes& s, ConvPass pass, const Pointers& at, Real* scratch) {
  Plan* plan = plan_of(s, pass);
  if (!plan) return false;
  try {
    plan->run(at.image, at.weight, at.bias, at.result, scratch);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

Index scratch_of(const Conv2dSizes& s, ConvPass pass) {
  const Plan* plan = plan_of(s, pass);
  return plan ? plan->scratch() : 0;
}

// The weight gradient is a sum over the batch. oneDNN would cut it into as many parts as there are threads; here it is
// cut in a way that depends on the batch alone, one thread to a piece, so that the result is the same on any number.
struct Pieces {
  explicit Pieces(const Conv2dSizes& s)
      : images((s.batch + kMost - 1) / kMost), count(images == 0 ? 0 : (s.batch + images - 1) / images) {
    const OneThread alone;
    for (const Index piece : {Index{0}, count - 1})
      if (piece < count) workspace = std::max(workspace, aligned(scratch_of(of(s, piece), ConvPass::weight_gradient)));
    stride = workspace + aligned(weight(s));
  }
  static constexpr Index kMost = 4;
  static Index aligned(Index numbers) { return (numbers + 15) / 16 * 16; }
  static Index weight(const Conv2dSizes& s) { return s.height.kernel * s.width.kernel * s.in * s.out; }

  Conv2dSizes of(const Conv2dSizes& s, Index piece) const {
    Conv2dSizes part = s;
    part.batch = std::min(images, s.batch - piece * images);
    return part;
  }

  Index images, count;
  Index workspace = 0, stride = 0;  // of a piece in the scratch: what oneDNN asks for, then its share of the sum
};

}  // namespace

Index conv2d_scratch(const Conv2dSizes& s, ConvPass pass) {
  if (pass != ConvPass::weight_gradient) return scratch_of(s, pass);
  const Pieces pieces(s);
  return pieces.count * pieces.stride;
}

void conv2d(const Conv2dSizes& s, const Real* x, const Real* w, const Real* bias, Real* y, Real* scratch) {
  if (!run_plan(s, ConvPass::forward, {x, w, bias, y}, scratch)) ref::conv2d(s, x, w, bias, y);
}

void conv2d_input_gradient(const Conv2dSizes& s, const Real* dy, const Real* w, Real* dx, Real* scratch) {
  if (!run_plan(s, ConvPass::input_gradient, {dx, w, nullptr, dy}, scratch)) ref::conv2d_input_gradient(s, dy, w, dx);
}

void conv2d_weight_gradient(const Conv2dSizes& s, const Real* x, const Real* dy, Real* dw, Real* scratch) {
  const Pieces pieces(s);
  const Index image = s.height.input * s.width.input * s.in, result = s.height.output * s.width.output * s.out;
  parallel_for(pieces.count, 1, [&](Index begin, Index end) {
    const OneThread alone;
    for (Index piece = begin; piece < end; ++piece) {
      const Conv2dSizes part = pieces.of(s, piece);
      const Real *from = x + piece * pieces.images * image, *above = dy + piece * pieces.images * result;
      Real *workspace = scratch + piece * pieces.stride, *share = piece == 0 ? dw : workspace + pieces.workspace;
      if (!run_plan(part, ConvPass::weight_gradient, {from, share, nullptr, above}, workspace))
        ref::conv2d_weight_gradient(part, from, above, share);
    }
  });
  if (pieces.count == 0) std::fill_n(dw, Pieces::weight(s), Real{0});
  for (Index piece = 1; piece < pieces.count; ++piece)
    accumulate(Pieces::weight(s), scratch + piece * pieces.stride + pieces.workspace, dw);
}

#endif

}  // namespace heed::kernels
