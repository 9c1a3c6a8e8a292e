#!/usr/bin/env bash
# scripts/check-tree passes a good tree and finds each fault planted in it.
#   check_tree_test.sh path/to/check-tree
set -euo pipefail
check=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
git init -q
mkdir -p src/base
printf 'int one = 1;\n' >src/base/one.cpp
printf 'all:\n\techo\n' >Makefile
printf '\x89PNG\t \n\0\n\n' >picture.png
: >empty.txt

if ! "$check" "$folder"; then
  echo 'a good tree was refused'
  exit 1
fi

# finds <file> <text of the fault> <contents>: with that one file added the check fails and says so.
finds() {
  mkdir -p "$(dirname "$1")"
  printf '%b' "$3" >"$1"
  if found=$("$check" "$folder"); then
    echo "not found: $2"
    exit 1
  fi
  if [[ $found != "$1"*"$2"* || $(wc -l <<<"$found") -ne 1 ]]; then
    printf 'expected "%s: %s", found:\n%s\n' "$1" "$2" "$found"
    exit 1
  fi
  rm "$1"
}
finds src/tab.cpp 'a tab' 'int a;\n\tint b;\n'
finds src/space.cpp 'space at the end' 'int a; \nint b;\n'
finds src/return.cpp 'a carriage return' 'int a;\r\nint b;\n'
finds docs/path.md "somebody's machine" 'see /ho''me/someone/notes\n'
finds docs/quoted.md "somebody's machine" 'see "/ro''ot/notes"\n'
finds src/json.cpp 'is read by parse_json' 'auto a = Json::parse(text);\n'
finds src/base/string_utils.h 'says nothing' 'int a;\n'
finds src/helpers/a.h 'says nothing' 'int a;\n'
finds src/end.cpp 'no line feed at the end' 'int a;'
finds src/blank.cpp 'an empty line at the end' 'int a;\n\n'
finds src/long.cpp '501 lines' "$(printf 'int a;\\n%.0s' {1..501})"
mkdir -p tests/room tests/support
printf 'double distance(int a,\n                int b);\n' >tests/support/cases.h
printf '#include "support/cases.h"\ndouble distance(int a,\n                int b) {}\n' >tests/support/cases.cpp
printf '#include "support/cases.h"\nint one() { return distance(1, 2); }\n' >tests/room/one_test.cpp
finds tests/room/two_test.cpp 'distance is a function of tests/support/cases.h too' 'double distance(int a, int b, int c = 0) {}\n'
finds tests/room/two_test.cpp 'one is a function of tests/room/one_test.cpp too' 'int one(int a) { return a; }\n'
"$check" "$folder"
