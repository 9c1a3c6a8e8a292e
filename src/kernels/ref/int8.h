#pragma once

#include "heed/kernels/int8.h"

namespace heed::kernels::ref {

void int8_pack(Index inputs, Index outputs, const Int8Matrix& q, std::int8_t* panels);
void int8_quantise(Index rows, Index inputs, const Real* x, Index stride, std::uint8_t* quantised, Real* scales);
void int8_product(const Int8Rows& x, const Int8Panels& weights, Index begin, Index end, bool add, Real* y,
                  Index stride);

}  // namespace heed::kernels::ref
