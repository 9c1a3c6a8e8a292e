#!/usr/bin/env bash
# What `heed completion` prints: scripts that the shells can read, with every command and option in them.
#   completion_test.sh <the heed command>
# shellcheck source=tests/cli/testing.sh
source "$(dirname "$0")/testing.sh"

commands=$("$heed" --help | sed -n '/^Subcommands:/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p')
[ "$(wc -w <<<"$commands")" -ge 10 ] || fault "only these commands are listed: $commands"
for shell in bash zsh fish; do
  "$heed" completion $shell >script.$shell
  for command in $commands; do
    grep -qE "(^|[^a-z])$command([^a-z]|\$)" script.$shell || fault "$shell: $command is missing"
  done
  # A shell that is not installed reads nothing; bash is always there.
  if command -v $shell >/dev/null; then $shell -n script.$shell || fault "$shell: it cannot read the script"; fi
done

# bash itself completes with it.
# shellcheck disable=SC1091
source ./script.bash
completes() {  # the words typed, then what must be offered
  local expected=${!#}
  COMP_WORDS=("${@:1:$#-1}")
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
  COMPREPLY=()
  _heed
  [ "${COMPREPLY[*]}" = "$expected" ] || fault "${COMP_WORDS[*]}: '${COMPREPLY[*]}' is offered, not '$expected'"
}
completes heed transl 'translate'
completes heed corpus gra 'grammar'
completes heed corpus grammar --pa '--pairs'
completes heed translate --model heed-demo/model --ali '--alignment'
completes heed --vers '--version'

code=0
"$heed" completion bsh >output 2>&1 || code=$?
[ $code -eq 1 ] || fault "an unknown shell: exit code $code, not 1"
grep -qF 'did you mean bash?' output || fault "an unknown shell: $(cat output)"
[ $faults -eq 0 ]
