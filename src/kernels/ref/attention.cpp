#include "heed/kernels/ref/attention.h"

#include <algorithm>
#include <cmath>

#include "heed/kernels/attention_work.h"

namespace heed::kernels::ref {
namespace {

constexpr Real kHidden = -std::numeric_limits<Real>::infinity();

template <class Body>
void for_each_row(const AttentionSize& s, const Body& body) {
  for (Index b = 0; b < s.batch; ++b)
    for (Index h = 0; h < s.heads; ++h)
      for (Index i = 0; i < s.queries; ++i) body(b, h, i, (b * s.heads + h) * s.queries + i);
}

double dot(Index n, const Real* a, const Real* b) {
  double sum = 0;
  for (Index i = 0; i < n; ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

Real raw_score(const AttentionInput& in, Index b, Index h, Index i, Index j) {
  return static_cast<Real>(static_cast<double>(in.scale) *
                           dot(in.size.width, head_of(in.query, in.query_strides, b, h) + i * in.query_strides.row,
                               head_of(in.key, in.key_strides, b, h) + j * in.key_strides.row));
}

}  // namespace

void attention_weights(const AttentionInput& in, Real* weights, Real* log_sum) {
  for_each_row(in.size, [&](Index b, Index h, Index i, Index row) {
    Real* p = weights + row * in.size.keys;
    const Index keys = i < query_count(in, b) ? key_count(in, b) : 0;
    std::fill_n(p, in.size.keys, Real{0});
    Real top = kHidden;
    for (Index j = 0; j < keys; ++j) {
      p[j] = raw_score(in, b, h, i, j);
      const ScoreTile pair{b, h, i, j, 1, 1, 1};
      if (in.rule.apply) in.rule.apply(in.rule.context, pair, p + j);
      if (in.rule.hide) in.rule.hide(in.rule.context, pair, p + j);
      if (j - i < -in.band.before || j - i > in.band.after) p[j] = kHidden;
      top = std::max(top, p[j]);
    }
    double sum = 0;
    for (Index j = 0; j < keys; ++j) sum += top == kHidden ? 0 : std::exp(static_cast<double>(p[j] - top));
    log_sum[row] = top == kHidden ? kHidden : static_cast<Real>(static_cast<double>(top) + std::log(sum));
    for (Index j = 0; j < keys; ++j)
      p[j] = top == kHidden ? 0 : static_cast<Real>(std::exp(static_cast<double>(p[j] - top)) / sum);
  });
}

void attention_read(const AttentionInput& in, const Real* weights, const AttentionOutput& out) {
  for_each_row(in.size, [&](Index b, Index h, Index i, Index row) {
    Real* read = head_of(out.read, out.strides, b, h) + i * out.strides.row;
    for (Index c = 0; c < in.size.value_width; ++c) {
      double sum = 0;
      for (Index j = 0; j < key_count(in, b); ++j)
        sum += static_cast<double>(weights[row * in.size.keys + j]) *
               static_cast<double>(head_of(in.value, in.value_strides, b, h)[j * in.value_strides.row + c]);
      read[c] = static_cast<Real>(sum);
    }
  });
}

void attention_backward(const AttentionInput& in, const Real* weights, const AttentionGradients& g) {
  const AttentionSize& s = in.size;
  for (Index b = 0; b < s.batch; ++b) {
    for (Index h = 0; h < s.heads; ++h) {
      for (Index i = 0; i < s.queries; ++i)
        std::fill_n(head_of(g.query, g.query_strides, b, h) + i * g.query_strides.row, s.width, Real{0});
      for (Index j = 0; j < s.keys; ++j) {
        std::fill_n(head_of(g.key, g.key_strides, b, h) + j * g.key_strides.row, s.width, Real{0});
        std::fill_n(head_of(g.value, g.value_strides, b, h) + j * g.value_strides.row, s.value_width, Real{0});
      }
    }
  }
  for_each_row(s, [&](Index b, Index h, Index i, Index row) {
    const Real* p = weights + row * s.keys;
    const Real* dread = head_of(g.read_gradient, g.read_gradient_strides, b, h) + i * g.read_gradient_strides.row;
    const auto value = [&](Index j) { return head_of(in.value, in.value_strides, b, h) + j * in.value_strides.row; };
    double inner = 0;
    for (Index j = 0; j < key_count(in, b); ++j)
      if (p[j] != 0) inner += static_cast<double>(p[j]) * dot(s.value_width, dread, value(j));
    for (Index j = 0; j < key_count(in, b); ++j) {
      if (p[j] == 0) continue;
      double ds = static_cast<double>(p[j]) * (dot(s.value_width, dread, value(j)) - inner);
      if (in.rule.slope) {
        const Real raw = raw_score(in, b, h, i, j);
        Real slope;
        in.rule.slope(in.rule.context, {b, h, i, j, 1, 1, 1}, &raw, &slope);
        ds *= static_cast<double>(slope);
      }
      const Real step = static_cast<Real>(ds * static_cast<double>(in.scale));
      for (Index c = 0; c < s.width; ++c) {
        head_of(g.query, g.query_strides, b, h)[i * g.query_strides.row + c] +=
            step * head_of(in.key, in.key_strides, b, h)[j * in.key_strides.row + c];
        head_of(g.key, g.key_strides, b, h)[j * g.key_strides.row + c] +=
            step * head_of(in.query, in.query_strides, b, h)[i * in.query_strides.row + c];
      }
      for (Index c = 0; c < s.value_width; ++c)
        head_of(g.value, g.value_strides, b, h)[j * g.value_strides.row + c] += p[j] * dread[c];
    }
  });
}

}  // namespace heed::kernels::ref
