#!/usr/bin/env bash
# Only names of heed may be visible in the library: a program that uses other versions of what is inside must not
# meet ours.
#   visible_names_test.sh libheed.so
set -euo pipefail
names=$(nm --dynamic --demangle --defined-only "$1" | cut -d ' ' -f 3-)
if ! grep -q '^heed::backward(' <<<"$names"; then
  echo "heed::backward is not visible in $1"
  exit 1
fi
others=$(grep -vE '^((typeinfo|typeinfo name|vtable|VTT) for |non-virtual thunk to )?heed::' <<<"$names" || true)
if [ -n "$others" ]; then
  printf 'visible, but not of heed:\n%s\n' "$others"
  exit 1
fi
