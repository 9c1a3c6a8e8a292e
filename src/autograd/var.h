#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "heed/autograd/gradient.h"
#include "heed/autograd/int8_weight.h"
#include "heed/kernels/gemm.h"

// The define-by-run tape. An op computes its value with kernels and records a closure that *returns* the gradients
// of its inputs; the engine alone un-broadcasts and accumulates them. Values live in Vars and in the closures that
// need them, not on the tape: what backward does not need is freed as soon as the last Var is gone.

namespace heed {

class Node;

// A counted handle of a tape node.
class NodePointer {
 public:
  NodePointer() = default;
  explicit NodePointer(Node* node) : node_(node) {}  // takes over one count
  NodePointer(const NodePointer& other);
  NodePointer(NodePointer&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  NodePointer& operator=(NodePointer other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~NodePointer();
  Node* get() const { return node_; }
  Node* operator->() const { return node_; }
  explicit operator bool() const { return node_ != nullptr; }
  // Gives up the handle without counting down.
  Node* detach() { return std::exchange(node_, nullptr); }

 private:
  Node* node_ = nullptr;
};

// Which inputs need a gradient; closures that can save work ask.
class Wanted {
 public:
  explicit Wanted(const std::vector<NodePointer>& inputs) : inputs_(inputs) {}
  bool operator()(std::size_t input) const { return static_cast<bool>(inputs_[input]); }
  // What other ops have given the input so far, taken from it, if that is one tensor of its shape: a closure with a
  // large gradient adds to it in place and returns the sum. Empty otherwise, and for leaves.
  Tensor taken(std::size_t input) const;

 private:
  const std::vector<NodePointer>& inputs_;
};

// One recorded op, or a leaf (op == nullptr) whose gradient is what the caller is after. A graph belongs to the
// thread that recorded it; leaves may be shared by threads, since backward never writes to them.
class Node {
 public:
  Node(const char* name, const Shape& result, std::vector<NodePointer> sources);
  virtual ~Node() = default;
  static void* operator new(std::size_t bytes) { return memory::allocate(bytes); }
  static void operator delete(void* memory) { memory::release(memory); }

  // The inputs' gradients from the output's. Frees what the closure kept: a graph is used once.
  virtual std::vector<Gradient> run(const Tensor& dy) = 0;
  bool leaf() const { return op == nullptr; }
  // Of a leaf that is held in eight bits: fills the memory of its value, if that has not been done.
  virtual void unpack() {}

  std::atomic<std::uint32_t> owners{1};
  const char* op;
  Shape shape;
  std::vector<NodePointer> inputs;   // null where an input needs no gradient
  std::uint64_t sequence;            // rises with creation: consumers always have a higher number than inputs
  bool queued = false;               // while backward is running
  Gradient gradient;                 // while backward is running
  const Int8Weight* int8 = nullptr;  // what a leaf is held as, if it is not its value
};

// Whether ops called from this thread record anything.
bool recording();

// A value and, if a gradient is wanted through it, its place on the tape. Cheap to copy. A Tensor converts to a
// constant.
class Var {
 public:
  Var() = default;
  Var(Tensor value) : value_(std::move(value)) {}  // NOLINT: a tensor is a constant
  Var(Tensor value, NodePointer node) : value_(std::move(value)), node_(std::move(node)) {}
  // A variable whose gradient backward reports.
  static Var leaf(Tensor value);
  // A leaf that is held in eight bits. Its value takes memory only once it is asked for.
  static Var leaf(std::shared_ptr<const Int8Weight> weight);
  // Null for what is no such leaf.
  const Int8Weight* held_in_int8() const { return node_ ? node_->int8 : nullptr; }
  // The same for ops that multiply in eight bits, which they do where nothing is recorded.
  const Int8Weight* int8() const { return held_in_int8() && !recording() ? node_->int8 : nullptr; }

  const Tensor& value() const {
    if (node_ && node_->int8) [[unlikely]]
      node_->unpack();
    return value_;
  }
  // For optimisers: the numbers may change between steps, the shape may not.
  Tensor& value() {
    if (node_ && node_->int8) [[unlikely]]
      node_->unpack();
    return value_;
  }
  const Shape& shape() const { return value_.shape(); }
  int rank() const { return value_.rank(); }
  Index size() const { return value_.size(); }
  Index size(int axis) const { return value_.size(axis); }
  explicit operator bool() const { return static_cast<bool>(value_); }
  bool wants_gradient() const { return static_cast<bool>(node_); }
  const NodePointer& node() const { return node_; }
  // The value alone: gradients stop here.
  Var detached() const { return Var(value()); }

 private:
  Tensor value_;
  NodePointer node_;
};

// The gradients of the leaves that a backward reached.
class Gradients {
 public:
  // Null if the leaf was not reached.
  const Gradient* find(const Var& leaf) const;
  Gradient* find(const Var& leaf) { return find(leaf.node()); }
  Gradient* find(const NodePointer& leaf);
  // As a tensor; zeros if the leaf was not reached.
  Tensor of(const Var& leaf) const;
  void add(const NodePointer& leaf, Gradient gradient);
  void add(const Var& leaf, Gradient gradient) { add(leaf.node(), std::move(gradient)); }
  // Computes what still waits in them (see Gradient); backward does it at its end.
  void settle();
  void clear() { entries_.clear(); }

 private:
  struct Entry {
    NodePointer leaf;  // kept alive: no new leaf may take its address, and with it its gradient
    Gradient gradient;
  };
  std::unordered_map<const Node*, Entry> entries_;
};

// Adds d(output)/d(leaf) · seed for every leaf to `into`. The graph is consumed.
void backward(const Var& output, const Tensor& seed, Gradients& into);
// The gradients of a single number.
void backward(const Var& loss, Gradients& into);
Gradients backward(const Var& loss);
// The same, and tells of every leaf when nothing more will be added to its gradient, which it finds in `into` and may
// take away. The products that wait in it are computed by then.
using LeafIsDone = std::function<void(const NodePointer& leaf)>;
void backward(const Var& loss, Gradients& into, const LeafIsDone& done);

// While one of these lives, ops called from this thread record nothing, and their products give each row what it would
// get alone (kernels/gemm.h): what a model says of a sample does not depend on those beside it.
class NoGradient {
 public:
  NoGradient();
  ~NoGradient();
  NoGradient(const NoGradient&) = delete;
  NoGradient& operator=(const NoGradient&) = delete;

 private:
  bool before_;
  kernels::RowsAlone alone_{true};
};

// When on, the first op whose value or gradient holds a NaN or an infinity is an Error that names it. Costs a pass
// over every value; for all threads.
void check_numbers(bool on);
bool checking_numbers();

namespace detail {

void require_finite(const char* op, const char* what, const Tensor& tensor);

struct InputRef {
  InputRef(const Var& var) : node(&var.node()) {}  // NOLINT: a list of inputs reads as {x, w, b}
  const NodePointer* node;
};

template <class Closure>
class ClosureNode final : public Node {
 public:
  ClosureNode(const char* name, const Shape& result, std::vector<NodePointer> sources, Closure closure)
      : Node(name, result, std::move(sources)), closure_(std::move(closure)) {}

  std::vector<Gradient> run(const Tensor& dy) override {
    require(closure_.has_value(), "[backward] the graph of [{}] was already used; compute the value again", op);
    // Moved out, so that what it kept is free as soon as the gradients are there.
    Closure closure = std::move(*closure_);
    closure_.reset();
    if constexpr (std::is_invocable_v<Closure&, const Tensor&, Wanted>) {
      return closure(dy, Wanted(inputs));
    } else {
      return closure(dy);
    }
  }

 private:
  std::optional<Closure> closure_;
};

template <class Closure>
Var record_nodes(const char* op, Tensor value, std::vector<NodePointer> inputs, Closure&& closure) {
  if (checking_numbers()) [[unlikely]]
    require_finite(op, "value", value);
  const bool wanted = recording() && std::any_of(inputs.begin(), inputs.end(), [](const auto& n) { return bool(n); });
  if (!wanted) return Var(std::move(value));
  const Shape shape = value.shape();
  return Var(std::move(value), NodePointer(new ClosureNode<std::decay_t<Closure>>(op, shape, std::move(inputs),
                                                                                  std::forward<Closure>(closure))));
}

}  // namespace detail

// Puts an op on the tape. `closure(dy)` or `closure(dy, wanted)` returns one gradient per input, in order; an empty
// one where none is wanted. A gradient may have the output's broadcast shape: the engine sums it down.
template <class Closure>
Var record(const char* op, Tensor value, std::initializer_list<detail::InputRef> inputs, Closure&& closure) {
  std::vector<NodePointer> nodes;
  nodes.reserve(inputs.size());
  for (const detail::InputRef& input : inputs) nodes.push_back(*input.node);
  return detail::record_nodes(op, std::move(value), std::move(nodes), std::forward<Closure>(closure));
}
template <class Closure>
Var record(const char* op, Tensor value, std::span<const Var> inputs, Closure&& closure) {
  std::vector<NodePointer> nodes;
  nodes.reserve(inputs.size());
  for (const Var& input : inputs) nodes.push_back(input.node());
  return detail::record_nodes(op, std::move(value), std::move(nodes), std::forward<Closure>(closure));
}

// For captures: a tensor that backward needs only if some other input wants a gradient.
inline Tensor kept_if(bool needed, const Tensor& tensor) { return needed ? tensor : Tensor(); }

// The list a closure returns.
template <class... Each>
std::vector<Gradient> grads(Each&&... each) {
  std::vector<Gradient> list;
  list.reserve(sizeof...(each));
  (list.emplace_back(std::forward<Each>(each)), ...);
  return list;
}

inline NodePointer::NodePointer(const NodePointer& other) : node_(other.node_) {
  if (node_) node_->owners.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace heed
