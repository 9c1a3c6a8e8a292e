#include "heed/base/shared_library.h"

#include <dlfcn.h>

namespace heed {

SharedLibrary::SharedLibrary(const char* name) : handle_(dlopen(name, RTLD_NOW | RTLD_LOCAL)) {
  if (!handle_) fault_ = dlerror();
}

void* SharedLibrary::address_of(const char* name) const { return handle_ ? dlsym(handle_, name) : nullptr; }

}  // namespace heed
