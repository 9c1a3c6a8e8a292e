#pragma once

#include <gtest/gtest.h>

#include <string>

#include "heed/base/error.h"

namespace heed::test {

// The words of the Error that `call` throws; a test failure and an empty text if it throws none.
template <class Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "no Error was thrown";
  return "";
}

}  // namespace heed::test
