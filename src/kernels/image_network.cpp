#include "heed/kernels/image_network.h"

#ifndef HEED_DOUBLE

#include <algorithm>
#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>

#include "heed/base/signal_stack.h"

namespace heed::kernels {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;

constexpr std::size_t kAlignment = 64;

const dnnl::engine& network_engine() {
  static const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}

// Copies of attributes are the same attributes to oneDNN, so each primitive gets its own.
dnnl::primitive_attr with_own_workspace(const dnnl::post_ops& after = {}) {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  attributes.set_post_ops(after);
  return attributes;
}

memory::desc floats(const memory::dims& dims, Tag tag) { return {dims, memory::data_type::f32, tag}; }

// Behind the last input; negative if a stride leaves inputs unread.
Index padding_behind(const Window& axis) { return axis.position(axis.output - 1, axis.kernel - 1) + 1 - axis.input; }

// Where the numbers of an argument stand while the network runs: at x, at a result, or in a slot of the scratch.
struct Place {
  enum class Kind { picture, result, slot } kind;
  std::size_t number = 0;
};

struct Argument {
  int id;
  memory::desc desc;
  Place place;
};

struct Step {
  dnnl::primitive primitive;
  std::vector<Argument> moving = {};
  std::unordered_map<int, memory> fixed = {};  // weights
};

// Pieces of the scratch that values take in turn, so that the whole is little larger than the two largest.
class Slots {
 public:
  std::size_t take(std::size_t bytes) {
    // The free one that fits best; else the largest free one grows.
    std::size_t best = sizes_.size();
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      if (!free_[i]) continue;
      if (best == sizes_.size() || better(sizes_[i], sizes_[best], bytes)) best = i;
    }
    if (best == sizes_.size()) sizes_.push_back(0), free_.push_back(true);
    sizes_[best] = std::max(sizes_[best], bytes);
    free_[best] = false;
    return best;
  }
  void release(std::size_t slot) { free_[slot] = true; }

  // Where each begins, and behind them the end of all.
  std::vector<std::size_t> offsets() const {
    std::vector<std::size_t> begins{0};
    for (const std::size_t size : sizes_)
      begins.push_back(begins.back() + (size + kAlignment - 1) / kAlignment * kAlignment);
    return begins;
  }

 private:
  static bool better(std::size_t one, std::size_t other, std::size_t bytes) {
    return one >= bytes ? other < bytes || one < other : other < bytes && one > other;
  }
  std::vector<std::size_t> sizes_;
  std::vector<bool> free_;
};

}  // namespace

class ImageNetwork::Plan {
 public:
  Plan(Index batch, const std::vector<ImageLayer>& layers, const std::vector<int>& results)
      : batch_(batch), layers_(layers), results_(results), values_(layers.size()), last_reader_(layers.size(), -1) {
    for (int i = 0; i < static_cast<int>(layers.size()); ++i)
      for (const int read : {layer(i).input, layer(i).added})
        if (read >= 0) last_reader_[static_cast<std::size_t>(read)] = i;
    for (int i = 0; i < static_cast<int>(layers.size()); ++i) {
      layer(i).kind == ImageLayer::Kind::max_pool ? add_pooling(i) : add_convolution(i);
      give_result(i);
      for (const int read : {layer(i).input, i})
        if (read >= 0 && last_reader_[static_cast<std::size_t>(read)] <= i && !value(read).taken_over)
          slots_.release(value(read).slot);
    }
    layers_.clear();  // their weights may go
    offsets_ = slots_.offsets();
  }

  Index scratch() const { return static_cast<Index>((offsets_.back() + workspace_) / sizeof(float)); }

  void run(const float* x, std::span<float* const> results, float* scratch) const {
    use_signal_stack();
    char* const bytes = reinterpret_cast<char*>(scratch);
    const auto at = [&](const Place& place) -> void* {
      switch (place.kind) {
        case Place::Kind::picture: return const_cast<float*>(x);  // oneDNN's memory has one type of pointer
        case Place::Kind::result: return results[place.number];
        default: return bytes + offsets_[place.number];
      }
    };
    dnnl::stream stream(network_engine());
    for (const Step& step : steps_) {
      std::unordered_map<int, memory> arguments = step.fixed;
      for (const Argument& each : step.moving)
        arguments.emplace(each.id, memory(each.desc, network_engine(),
                                          each.id == DNNL_ARG_SCRATCHPAD ? bytes + offsets_.back() : at(each.place)));
      step.primitive.execute(stream, arguments);
    }
    stream.wait();
  }

 private:
  struct Value {
    memory::desc desc;
    std::size_t slot = 0;
    bool taken_over = false;  // its slot belongs to the layer that added it
  };

  const ImageLayer& layer(int i) const { return layers_[static_cast<std::size_t>(i)]; }
  Value& value(int i) { return values_[static_cast<std::size_t>(i)]; }

  memory::dims output_dims(int i) const {
    return {batch_, layer(i).out, layer(i).height.output, layer(i).width.output};
  }
  // The pictures or the output of an earlier layer, as they lie.
  Argument input_of(int i) {
    const ImageLayer& s = layer(i);
    if (s.input >= 0) return {DNNL_ARG_SRC, value(s.input).desc, {Place::Kind::slot, value(s.input).slot}};
    return {DNNL_ARG_SRC, floats({batch_, s.in, s.height.input, s.width.input}, Tag::nhwc), {Place::Kind::picture}};
  }

  template <class Description>
  void add_step(const Description& description, dnnl::primitive primitive, Step step) {
    const memory::desc workspace = description.scratchpad_desc();
    if (workspace.get_size() > 0) step.moving.push_back({DNNL_ARG_SCRATCHPAD, workspace, {Place::Kind::slot}});
    workspace_ = std::max(workspace_, (workspace.get_size() + kAlignment - 1) / kAlignment * kAlignment);
    step.primitive = std::move(primitive);
    steps_.push_back(std::move(step));
  }

  void add_reorder(Argument from, Argument to) {
    const dnnl::reorder::primitive_desc description(network_engine(), from.desc, network_engine(), to.desc,
                                                    with_own_workspace());
    from.id = DNNL_ARG_FROM, to.id = DNNL_ARG_TO;
    add_step(description, dnnl::reorder(description), {{}, {from, to}});
  }

  // A constant in the order that a primitive wants it, moved now.
  static memory constant(const float* data, const memory::desc& given, const memory::desc& wanted) {
    memory from(given, network_engine(), const_cast<float*>(data)), to(wanted, network_engine());
    dnnl::stream stream(network_engine());
    dnnl::reorder(from, to).execute(stream, from, to);
    stream.wait();
    return to;
  }

  static dnnl::primitive_attr fused(const ImageLayer& s) {
    dnnl::post_ops after;
    if (s.added >= 0) after.append_sum();
    if (s.bend == Bend::relu) after.append_eltwise(1, dnnl::algorithm::eltwise_relu, 0, 0);
    if (s.bend == Bend::relu6) after.append_eltwise(1, dnnl::algorithm::eltwise_clip, 0, 6);
    return with_own_workspace(after);
  }

  void add_convolution(int i) {
    const ImageLayer& s = layer(i);
    const bool depthwise = s.kind == ImageLayer::Kind::depthwise;
    const Index rows = s.height.kernel, columns = s.width.kernel;
    const memory::dims dims =
        depthwise ? memory::dims{s.out, 1, 1, rows, columns} : memory::dims{s.out, s.in, rows, columns};
    const memory::desc given = depthwise ? memory::desc(dims, memory::data_type::f32, {1, 1, 1, columns * s.out, s.out})
                                         : floats(dims, Tag::hwio);
    const dnnl::convolution_forward::primitive_desc description(
        {dnnl::prop_kind::forward_inference,
         dnnl::algorithm::convolution_direct,
         floats({batch_, s.in, s.height.input, s.width.input}, Tag::any),
         floats(dims, Tag::any),
         floats({s.out}, Tag::x),
         s.added >= 0 ? value(s.added).desc : floats(output_dims(i), Tag::any),
         {s.height.stride, s.width.stride},
         {s.height.dilation - 1, s.width.dilation - 1},
         {s.height.before, s.width.before},
         {padding_behind(s.height), padding_behind(s.width)}},
        fused(s), network_engine());

    Argument from = input_of(i);
    const bool moved = from.desc != description.src_desc();
    if (moved) {
      const Argument ordered{
          DNNL_ARG_SRC, description.src_desc(), {Place::Kind::slot, slots_.take(description.src_desc().get_size())}};
      add_reorder(from, ordered);
      from = ordered;
    }
    Value& result = value(i);
    result.desc = description.dst_desc();
    result.slot = s.added >= 0 ? value(s.added).slot : slots_.take(result.desc.get_size());
    if (s.added >= 0) value(s.added).taken_over = true;
    add_step(description, dnnl::convolution_forward(description),
             {{},
              {from, {DNNL_ARG_DST, result.desc, {Place::Kind::slot, result.slot}}},
              {{DNNL_ARG_WEIGHTS, constant(s.weight, given, description.weights_desc())},
               {DNNL_ARG_BIAS, constant(s.bias, floats({s.out}, Tag::x), description.bias_desc())}}});
    if (moved) slots_.release(from.place.number);
  }

  void add_pooling(int i) {
    const ImageLayer& s = layer(i);
    const Argument from = input_of(i);
    const dnnl::pooling_forward::primitive_desc description({dnnl::prop_kind::forward_inference,
                                                             dnnl::algorithm::pooling_max,
                                                             from.desc,
                                                             floats(output_dims(i), Tag::any),
                                                             {s.height.stride, s.width.stride},
                                                             {s.height.kernel, s.width.kernel},
                                                             {s.height.before, s.width.before},
                                                             {padding_behind(s.height), padding_behind(s.width)}},
                                                            with_own_workspace(), network_engine());
    Value& result = value(i);
    result.desc = description.dst_desc();
    result.slot = slots_.take(result.desc.get_size());
    add_step(description, dnnl::pooling_forward(description),
             {{}, {from, {DNNL_ARG_DST, result.desc, {Place::Kind::slot, result.slot}}}});
  }

  void give_result(int i) {
    for (std::size_t number = 0; number < results_.size(); ++number)
      if (results_[number] == i)
        add_reorder({0, value(i).desc, {Place::Kind::slot, value(i).slot}},
                    {0, floats(output_dims(i), Tag::nhwc), {Place::Kind::result, number}});
  }

  Index batch_;
  std::vector<ImageLayer> layers_;
  std::vector<int> results_;
  std::vector<Value> values_;     // of each layer
  std::vector<int> last_reader_;  // of each layer
  Slots slots_;
  std::vector<Step> steps_;
  std::vector<std::size_t> offsets_;  // of the slots; what primitives work in follows the last
  std::size_t workspace_ = 0;
};

ImageNetwork::ImageNetwork(Index batch, const std::vector<ImageLayer>& layers, const std::vector<int>& results)
    : plan_(std::make_unique<const Plan>(batch, layers, results)) {}
ImageNetwork::~ImageNetwork() = default;

Index ImageNetwork::scratch() const { return plan_->scratch(); }

void ImageNetwork::run(const float* x, std::span<float* const> results, float* scratch) const {
  plan_->run(x, results, scratch);
}

}  // namespace heed::kernels

#endif
