#include "heed/autograd/var.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <queue>
#include <unordered_set>

#include "heed/autograd/tensor_math.h"
#include "heed/kernels/elementwise.h"

namespace heed {
namespace {

thread_local bool recording_now = true;
std::atomic<bool> checking{false};

class LeafNode final : public Node {
 public:
  explicit LeafNode(const Shape& result) : Node(nullptr, result, {}) {}
  std::vector<Gradient> run(const Tensor&) override { return {}; }
};

class Int8Leaf final : public Node {
 public:
  Int8Leaf(std::shared_ptr<const Int8Weight> weight, Tensor value)
      : Node(nullptr, weight->shape(), {}), weight_(std::move(weight)), value_(std::move(value)) {
    int8 = weight_.get();
  }
  std::vector<Gradient> run(const Tensor&) override { return {}; }
  void unpack() override {
    std::call_once(unpacked_, [this] { weight_->unpack(value_); });
  }

 private:
  std::shared_ptr<const Int8Weight> weight_;
  Tensor value_;
  std::once_flag unpacked_;
};

// Deletes a node whose last handle is gone. Its inputs may lose their last handle too; they wait in a list instead
// of recursing, so that a chain of any length can be freed. The list lives on the stack: variables with static
// lifetime are freed when a thread's own objects are gone already.
void destroy(Node* node) {
  thread_local std::vector<Node*>* waiting = nullptr;
  if (waiting) return waiting->push_back(node);
  std::vector<Node*> list;
  waiting = &list;
  delete node;
  while (!list.empty()) {
    Node* next = list.back();
    list.pop_back();
    delete next;
  }
  waiting = nullptr;
}

struct EarlierFirst {
  bool operator()(const Node* a, const Node* b) const { return a->sequence < b->sequence; }
};

// Runs the graph from the newest node down: creation order is a topological order.
class Engine {
 public:
  explicit Engine(Gradients& leaves) : leaves_(leaves) {}
  // If a closure throws, the nodes still queued are left clean.
  ~Engine() {
    for (; !queue_.empty(); queue_.pop()) {
      queue_.top()->queued = false;
      queue_.top()->gradient = {};
    }
  }

  void give(const NodePointer& to, Gradient gradient) {
    if (!to || gradient.empty()) return;
    if (gradient.dense()) gradient.dense() = sum_to(gradient.dense(), to->shape);
    if (to->leaf()) {
      leaves_.add(to, std::move(gradient));
      return;
    }
    to->gradient.add(std::move(gradient));
    if (!to->queued) {
      to->queued = true;
      queue_.push(to.get());
    }
  }

  void run(const std::function<void(std::uint64_t next)>& after = {}) {
    while (!queue_.empty()) {
      Node* node = queue_.top();
      queue_.pop();
      node->queued = false;
      const Tensor dy = std::exchange(node->gradient, {}).to_dense(node->shape).contiguous();
      std::vector<Gradient> gradients = node->run(dy);
      for (std::size_t i = 0; i < gradients.size(); ++i) {
        if (checking_numbers()) [[unlikely]] {
          gradients[i].settle();
          if (gradients[i].dense()) detail::require_finite(node->op, "gradient", gradients[i].dense());
        }
        give(node->inputs[i], std::move(gradients[i]));
      }
      if (after) after(queue_.empty() ? 0 : queue_.top()->sequence);
    }
  }

 private:
  Gradients& leaves_;
  std::priority_queue<Node*, std::vector<Node*>, EarlierFirst> queue_;
};

// The leaves of a graph, each with the first op that used it: backward is done with a leaf once it has passed that op.
class LeafUses {
 public:
  explicit LeafUses(const Node* output) {
    std::unordered_map<const Node*, std::pair<const NodePointer*, std::uint64_t>> first;
    std::unordered_set<const Node*> seen{output};
    std::vector<const Node*> waiting{output};
    while (!waiting.empty()) {
      const Node* node = waiting.back();
      waiting.pop_back();
      for (const NodePointer& input : node->inputs) {
        if (!input) continue;
        if (!input->leaf()) {
          if (seen.insert(input.get()).second) waiting.push_back(input.get());
          continue;
        }
        auto& use = first.try_emplace(input.get(), &input, node->sequence).first->second;
        use.second = std::min(use.second, node->sequence);
      }
    }
    for (const auto& [leaf, use] : first) uses_.push_back({*use.first, use.second});
    std::sort(uses_.begin(), uses_.end(), [](const Use& a, const Use& b) { return a.sequence > b.sequence; });
  }

  // Tells of those that only ops after `next`, which comes next, have used.
  void pass(std::uint64_t next, Gradients& gradients, const LeafIsDone& done) {
    for (; at_ < uses_.size() && uses_[at_].sequence > next; ++at_) {
      if (Gradient* gradient = gradients.find(uses_[at_].leaf)) gradient->settle();
      done(uses_[at_].leaf);
    }
  }

 private:
  struct Use {
    NodePointer leaf;
    std::uint64_t sequence;
  };
  std::vector<Use> uses_;  // the latest first
  std::size_t at_ = 0;
};

}  // namespace

Node::Node(const char* name, const Shape& result, std::vector<NodePointer> sources)
    : op(name), shape(result), inputs(std::move(sources)) {
  thread_local std::uint64_t counter = 0;
  sequence = ++counter;
}

Tensor Wanted::taken(std::size_t input) const {
  Node* const node = inputs_[input].get();
  return node && !node->leaf() ? node->gradient.take_dense() : Tensor();
}

NodePointer::~NodePointer() {
  if (node_ && node_->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy(node_);
}

Var Var::leaf(std::shared_ptr<const Int8Weight> weight) {
  // Not of the pool, whose memory has been used before: pages that nobody touches are only addresses.
  constexpr std::size_t kAlignment = 64;
  const std::size_t bytes = static_cast<std::size_t>(weight->shape().size()) * sizeof(Real);
  void* const memory = std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  require(memory != nullptr, "[int8] there is no memory for {} bytes", bytes);
  const Tensor value(memory::Buffer::foreign(memory, memory, std::free), static_cast<Real*>(memory), weight->shape());
  return Var(value, NodePointer(new Int8Leaf(std::move(weight), value)));
}

Var Var::leaf(Tensor value) {
  const Shape shape = value.shape();
  return Var(std::move(value), NodePointer(new LeafNode(shape)));
}

const Gradient* Gradients::find(const Var& leaf) const {
  const auto it = entries_.find(leaf.node().get());
  return it == entries_.end() ? nullptr : &it->second.gradient;
}
Gradient* Gradients::find(const NodePointer& leaf) {
  const auto it = entries_.find(leaf.get());
  return it == entries_.end() ? nullptr : &it->second.gradient;
}
Tensor Gradients::of(const Var& leaf) const {
  const Gradient* gradient = find(leaf);
  return gradient ? gradient->to_dense(leaf.shape()) : Tensor(leaf.shape(), Real{0});
}
void Gradients::add(const NodePointer& leaf, Gradient gradient) {
  entries_.try_emplace(leaf.get(), Entry{leaf, {}}).first->second.gradient.add(std::move(gradient));
}

void Gradients::settle() {
  for (auto& [node, entry] : entries_) entry.gradient.settle();
}

void backward(const Var& output, const Tensor& seed, Gradients& into) {
  require(output.wants_gradient(), "[backward] the value does not depend on any variable");
  require(seed.shape() == output.shape(), "[backward] the seed has shape {}, the value {}", seed.shape(),
          output.shape());
  Engine engine(into);
  engine.give(output.node(), seed);
  engine.run();
  into.settle();
}

void backward(const Var& loss, Gradients& into) {
  require(loss.size() == 1, "[backward] a loss is one number, not shape {}", loss.shape());
  backward(loss, Tensor(loss.shape(), Real{1}), into);
}

void backward(const Var& loss, Gradients& into, const LeafIsDone& done) {
  require(loss.size() == 1 && loss.wants_gradient(), "[backward] a loss is one number that depends on variables");
  LeafUses uses(loss.node().get());
  Engine engine(into);
  engine.give(loss.node(), Tensor(loss.shape(), Real{1}));
  engine.run([&](std::uint64_t next) { uses.pass(next, into, done); });
  uses.pass(0, into, done);
}

Gradients backward(const Var& loss) {
  Gradients gradients;
  backward(loss, gradients);
  return gradients;
}

NoGradient::NoGradient() : before_(std::exchange(recording_now, false)) {}
NoGradient::~NoGradient() { recording_now = before_; }
bool recording() { return recording_now; }

void check_numbers(bool on) { checking.store(on, std::memory_order_relaxed); }
bool checking_numbers() { return checking.load(std::memory_order_relaxed); }

void detail::require_finite(const char* op, const char* what, const Tensor& tensor) {
  const Tensor packed = tensor.contiguous();
  const Index bad = kernels::first_not_finite(packed.size(), packed.data());
  require(bad < 0, "[{}] made a {} that is not finite: {} at element {} of shape {}", op, what,
          bad < 0 ? Real{0} : packed.data()[bad], bad, tensor.shape());
}

}  // namespace heed
