#pragma once

#include <nanobind/nanobind.h>

// A trained translation model and what it looks at.
void add_translator(nanobind::module_& module);
