#!/bin/sh
# Writes the code blocks of a Markdown page that name a file ("```cpp file=src/a/b.cpp") below a folder, src/ as heed/, so
# that the guide can be compiled as it stands.   extract_guide.sh PAGE FOLDER
set -eu
page=$1 folder=$2
grep '^```cpp file=' "$page" | sed 's/^```cpp file=//; s|^src/|heed/|' | while read -r path; do
  mkdir -p "$folder/$(dirname "$path")"
done
awk -v folder="$folder" '
  /^```cpp file=/ { path = substr($0, length("```cpp file=") + 1); sub("^src/", "heed/", path); out = folder "/" path; printf "" > out; next }
  /^```/ { out = ""; next }
  out != "" { print > out }
' "$page"
