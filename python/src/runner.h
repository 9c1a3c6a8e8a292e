#pragma once

#include <nanobind/nanobind.h>

// Trained models of any job, what they look at, and their training.
void add_runner(nanobind::module_& module);
