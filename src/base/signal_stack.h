#pragma once

namespace heed {

// Gives the calling thread a stack of its own for signal handlers (sigaltstack), once, unless it has one.
//
// oneDNN's matrix products keep their stack pointer in a buffer on the heap. A signal that comes during one of them and
// is handled on the thread's usual stack writes below that buffer, over whatever stands there. Handlers that are
// installed with SA_ONSTACK, as Heed's and Python's are, run on the stack given here instead.
void use_signal_stack();

}  // namespace heed
