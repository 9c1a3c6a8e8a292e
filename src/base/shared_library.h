#pragma once

#include <string>

namespace heed {

// A library that is loaded while the program runs, for those who need it, and stays loaded. One that is missing is no
// fault in itself: it is false in a condition and has no functions.
class SharedLibrary {
 public:
  // The name as the system's loader knows it: "librsvg-2.so.2".
  explicit SharedLibrary(const char* name);
  explicit operator bool() const { return handle_ != nullptr; }
  // Why it could not be loaded, in the loader's words.
  const std::string& fault() const { return fault_; }

  // Sets `function` to the one of that name, or to null; whether it is there. Its type is the caller's promise.
  template <class Function>
  bool find(Function*& function, const char* name) const {
    function = reinterpret_cast<Function*>(address_of(name));
    return function != nullptr;
  }

 private:
  void* address_of(const char* name) const;

  void* handle_;
  std::string fault_;
};

}  // namespace heed
