# What every text test of the command begins with: the command in $heed, an empty folder to work in, and words to say
# what is expected. Sourced with the test's own arguments; a test ends with `[ $faults -eq 0 ]`.
set -euo pipefail
heed=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

faults=0
fault() {
  echo "$*"
  faults=$((faults + 1))
}
expect() {  # $1 says what is expected; the output must hold each further argument
  local what=$1 part
  shift
  for part in "$@"; do
    grep -qF -- "$part" output || { fault "$what: '$part' is not in:"; cat output; }
  done
}
fails() {  # $1 is the exit code, $2 a part of the message; the rest are arguments
  local code=$1 part=$2 found=0
  shift 2
  "$heed" "$@" >output 2>&1 || found=$?
  [ "$found" -eq "$code" ] || fault "$*: exit code $found, not $code"
  expect "$*" "$part"
}
near() {  # $1 and $2 are files of the same texts, whose numbers differ by no more than $3
  local parts='-?[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?|[^0-9-]+|-'
  [ -s "$1" ] && paste -d $'\001' <(grep -oE -e "$parts" "$1") <(grep -oE -e "$parts" "$2") |
    awk -F $'\001' -v most="$3" '$1 == $2 { next }
      { d = $1 - $2; if ($1 !~ /[0-9]$/ || $2 !~ /[0-9]$/ || d > most || d < -most) exit 1 }'
}
sixty_sentences() {  # writes $1.en and $1.de, line by line translations of each other
  local noun adjective verb
  local nouns=(house:haus dog:hund cat:kater tree:baum car:wagen)
  local adjectives=(small:kleine big:grosse red:rote old:alte)
  local verbs=(sleeps:schlaeft stands:steht falls:faellt)
  for verb in "${verbs[@]}"; do
    for noun in "${nouns[@]}"; do
      for adjective in "${adjectives[@]}"; do
        echo "the ${adjective%:*} ${noun%:*} ${verb%:*}" >>"$1.en"
        echo "der ${adjective#*:} ${noun#*:} ${verb#*:}" >>"$1.de"
      done
    done
  done
}
