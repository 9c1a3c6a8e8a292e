#!/usr/bin/env bash
# Programs and libraries below a folder: they look for libraries in no folder that depends on where they are called
# (an empty or relative entry of RUNPATH), bind everything at the start and cannot be changed after that; what overruns
# its memory is stopped.   binaries_test.sh FOLDER
set -euo pipefail
folder=$1

faults=0
fault() {
  echo "$1"
  faults=$((faults + 1))
}

binaries=0
while IFS= read -r file; do
  header=$(readelf -hW "$file" 2>/dev/null) || continue
  grep -qE 'Type: +(DYN|EXEC)' <<<"$header" || continue
  binaries=$((binaries + 1))
  dynamic=$(readelf -dW "$file")
  while IFS= read -r entry; do
    [[ $entry == /* || $entry == '$ORIGIN' || $entry == '$ORIGIN/'* ]] || fault "$file: RUNPATH has the entry '$entry'"
  done < <(sed -nE 's/.*\((RPATH|RUNPATH)\).*\[(.*)\]$/\2/p' <<<"$dynamic" | tr ':' '\n')
  grep -qE '\(FLAGS\).*BIND_NOW|\(FLAGS_1\).* NOW' <<<"$dynamic" || fault "$file: is bound lazily"
  grep -q GNU_RELRO < <(readelf -lW "$file") || fault "$file: has no part that is read-only after the start"
  symbols=$(readelf --dyn-syms -W "$file")
  grep -q __stack_chk_fail <<<"$symbols" || fault "$file: has no stack protector"
  # Which calls are checked is the compiler's choice; in all of the library it finds some.
  if [[ ${file##*/} == libheed.* ]]; then
    grep -qE '__[a-z]+_chk(@|$)' <<<"$symbols" || fault "$file: is built without _FORTIFY_SOURCE"
  fi
done < <(find "$folder" \( -name CMakeFiles -o -path '*/consumer/build' \) -prune -o -type f \
  \( -name '*.so*' -o -perm -u+x \) -print)

[ $binaries -gt 0 ] || fault "$folder: has no program or library"
echo "$binaries binaries, $faults faults"
[ $faults -eq 0 ]
