#include "heed/train/gradient_exchange.h"

#include <algorithm>
#include <chrono>
#include <numeric>

#include "heed/base/threads.h"
#include "heed/kernels/elementwise.h"
#include "heed/train/sum_tree.h"

namespace heed {
namespace {

constexpr Index kBucket = Index{1} << 20;  // numbers: enough for the wire to run at full speed
constexpr Index kPacked = Index{1} << 15;  // smaller gradients travel together

}  // namespace

GradientExchange::GradientExchange(std::shared_ptr<Ranks> ranks, Wire wire, std::size_t shards)
    : ranks_(std::move(ranks)), wire_(wire), shards_(shards), thread_([this] { serve(); }) {}

GradientExchange::~GradientExchange() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void GradientExchange::begin(const Parameters& parameters) {
  const std::lock_guard lock(mutex_);
  const std::size_t count = parameters.entries().size();
  if (variables_.size() != count) {
    variables_.clear();
    for (const Parameters::Entry& entry : parameters.entries()) variables_.push_back(entry.var);
    order_.resize(count);
    std::iota(order_.rbegin(), order_.rend(), std::size_t{0});  // backward goes from the last to the first
    order_is_learnt_ = false;
  }
  buckets_.clear();
  Index size = kBucket;
  for (const std::size_t parameter : order_) {
    if (size >= kBucket) {
      buckets_.emplace_back();
      size = 0;
    }
    buckets_.back().push_back(parameter);
    size += variables_[parameter].size();
  }
  given_.assign(count, std::vector<Gradient>(shards_));
  missing_.assign(count, shards_);
  finished_.clear();
  sums_.assign(count, {});
  error_ = nullptr;
  failed_ = broken_ = false;
  working_ = true;
  ranks_->set_background(true);
  changed_.notify_all();
}

void GradientExchange::give(std::size_t shard, std::size_t parameter, Gradient gradient) {
  const std::lock_guard lock(mutex_);
  given_[parameter][shard] = std::move(gradient);
  if (--missing_[parameter] > 0) return;
  finished_.push_back(parameter);
  changed_.notify_all();
}

void GradientExchange::fail() {
  const std::lock_guard lock(mutex_);
  failed_ = true;
  changed_.notify_all();
}

Gradients GradientExchange::finish() {
  const auto began = std::chrono::steady_clock::now();
  const double waited = ranks_->waited();
  ranks_->set_background(false);  // nobody computes any more
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !working_; });
  ranks_->set_waited(waited + std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
  if (error_) std::rethrow_exception(error_);
  Gradients sums;
  if (broken_) return sums;
  for (std::size_t i = 0; i < sums_.size(); ++i)
    if (!sums_[i].empty()) sums.add(variables_[i], std::move(sums_[i]));
  if (!order_is_learnt_) learn_order();
  return sums;
}

void GradientExchange::learn_order() {
  const std::vector<std::size_t> all = ranks_->gather_equal(std::span<const std::size_t>(finished_));
  order_.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(finished_.size()));  // the first rank's
  order_is_learnt_ = true;
}

void GradientExchange::serve() {
  set_thread_count(1);
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return working_ || ending_; });
    if (ending_) return;
    lock.unlock();
    std::exception_ptr error;
    try {
      exchange_step();
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    error_ = error;
    working_ = false;
    changed_.notify_all();
  }
}

void GradientExchange::exchange_step() {
  for (const Bucket& bucket : buckets_)
    if (!exchange(bucket)) {
      broken_ = true;
      return;
    }
}

// Until all shards of this rank have given theirs; false if they will not.
bool GradientExchange::wait_for(const Bucket& bucket) {
  std::unique_lock lock(mutex_);
  const auto whole = [&] {
    return std::all_of(bucket.begin(), bucket.end(),
                       [this](std::size_t parameter) { return missing_[parameter] == 0; });
  };
  changed_.wait(lock, [&] { return failed_ || whole(); });
  return !failed_;
}

bool GradientExchange::exchange(const Bucket& bucket) {
  const bool whole = wait_for(bucket);
  std::vector<Gradient> own;
  std::vector<Head> heads;
  for (const std::size_t parameter : bucket) {
    Gradient& sum = own.emplace_back(whole ? summed_shards(parameter) : Gradient());
    Head head{0, Form::none, !whole};
    if (sum.sparse()) head = {static_cast<std::int32_t>(sum.rows().front().ids.size()), Form::rows, !whole};
    if (sum.dense()) head.form = Form::dense;
    heads.push_back(head);
  }
  const std::vector<Head> all = ranks_->gather_equal(std::span<const Head>(heads));
  if (std::any_of(all.begin(), all.end(), [](const Head& head) { return head.failed; })) return false;

  std::vector<std::size_t> dense;
  for (std::size_t i = 0; i < bucket.size(); ++i) {
    std::vector<Head> of_ranks;
    Form form = Form::none;
    for (std::size_t at = i; at < all.size(); at += bucket.size()) {
      of_ranks.push_back(all[at]);
      form = std::max(form, all[at].form);
    }
    if (form == Form::none) continue;
    if (form == Form::rows) {
      sums_[bucket[i]] = summed_rows(bucket[i], own[i], of_ranks);
      continue;
    }
    Tensor numbers = own[i].to_dense(variables_[bucket[i]].shape());
    own[i] = {};
    if (!numbers.unique() || !numbers.contiguous_layout()) numbers = numbers.copy();
    sums_[bucket[i]] = std::move(numbers);
    dense.push_back(bucket[i]);
  }
  sum_dense(dense);
  return true;
}

// Over the shards of this rank.
Gradient GradientExchange::summed_shards(std::size_t parameter) {
  std::vector<Gradient>& parts = given_[parameter];
  std::vector<bool> there;
  bool dense = false;
  for (const Gradient& part : parts) {
    there.push_back(!part.empty());
    dense = dense || part.dense();
  }
  if (!dense) return sum_rows_in_tree(parts);
  for (Gradient& part : parts)
    if (part.sparse()) part = Gradient(part.to_dense(variables_[parameter].shape()));
  for (const Addition& addition : additions_in_tree(there))
    kernels::accumulate(variables_[parameter].size(), parts[addition.from].dense().data(),
                        parts[addition.to].dense().data());
  return std::move(parts[static_cast<std::size_t>(std::find(there.begin(), there.end(), true) - there.begin())]);
}

void GradientExchange::sum_dense(std::span<const std::size_t> parameters) {
  std::vector<Real> packed;
  for (const std::size_t parameter : parameters) {
    const std::span<Real> numbers = sums_[parameter].dense().values();
    if (variables_[parameter].size() > kPacked)
      ranks_->sum(numbers, wire_);
    else
      packed.insert(packed.end(), numbers.begin(), numbers.end());
  }
  ranks_->sum(packed, wire_);
  auto from = packed.begin();
  for (const std::size_t parameter : parameters) {
    if (variables_[parameter].size() > kPacked) continue;
    const std::span<Real> numbers = sums_[parameter].dense().values();
    std::copy_n(from, numbers.size(), numbers.begin());
    from += static_cast<std::ptrdiff_t>(numbers.size());
  }
}

// Rows go to all ranks, each of which sums them: R - 1 times as many as the rank with the most has. A whole table is
// sent about twice. Which rows there are goes around in either case.
Gradient GradientExchange::summed_rows(std::size_t parameter, const Gradient& own, std::span<const Head> heads) {
  const Tensor& table = variables_[parameter].value();
  const Index rows = table.size(0), width = table.size() / std::max<Index>(rows, 1);
  Index most = 0;
  for (const Head& head : heads) most = std::max(most, Index{head.rows});
  const RowGradient none{Ids(Shape{0}), Tensor(Shape{0, width})};
  const RowGradient& given = own.empty() ? none : own.rows().front();

  std::vector<std::int32_t> ids(static_cast<std::size_t>(most));
  std::copy_n(given.ids.data(), given.ids.size(), ids.begin());
  const std::vector<std::int32_t> all_ids = ranks_->gather_equal(std::span<const std::int32_t>(ids));
  const auto ids_of = [&](std::size_t rank) {
    Ids result(Shape{Index{heads[rank].rows}});
    std::copy_n(all_ids.begin() + static_cast<std::ptrdiff_t>(rank * ids.size()), result.size(), result.data());
    return result;
  };
  if (most * static_cast<Index>(heads.size()) < 2 * rows) {
    std::vector<Real> numbers(static_cast<std::size_t>(most * width));
    std::copy_n(given.rows.data(), given.rows.size(), numbers.begin());
    const std::vector<Real> gathered = ranks_->gather_equal(std::span<const Real>(numbers));
    std::vector<Gradient> parts;
    for (std::size_t rank = 0; rank < heads.size(); ++rank) {
      if (heads[rank].form == Form::none) {
        parts.emplace_back();
        continue;
      }
      Tensor part(Shape{Index{heads[rank].rows}, width});
      std::copy_n(gathered.begin() + static_cast<std::ptrdiff_t>(rank * numbers.size()), part.size(), part.data());
      parts.push_back(Gradient::of_rows(ids_of(rank), std::move(part)));
    }
    return sum_rows_in_tree(parts);
  }
  Tensor whole = own.to_dense(table.shape()).contiguous();
  ranks_->sum(whole.values(), wire_);
  std::vector<std::int32_t> touched;
  for (std::size_t rank = 0; rank < heads.size(); ++rank) {
    const Ids some = ids_of(rank);
    touched.insert(touched.end(), some.data(), some.data() + some.size());
  }
  std::sort(touched.begin(), touched.end());
  touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
  const auto count = static_cast<Index>(touched.size());
  RowGradient sum{Ids(Shape{count}), Tensor(Shape{count, width})};
  for (Index i = 0; i < count; ++i) {
    sum.ids.data()[i] = touched[static_cast<std::size_t>(i)];
    std::copy_n(whole.data() + Index{sum.ids.data()[i]} * width, width, sum.rows.data() + i * width);
  }
  return Gradient::of_rows(std::move(sum.ids), std::move(sum.rows));
}

}  // namespace heed
