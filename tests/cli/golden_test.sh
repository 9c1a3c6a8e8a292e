#!/usr/bin/env bash
# What the six translation systems compute, end to end: ten steps of training on a made-up corpus, and what a trained
# model looks at, against data/golden/<system>.json; and a model folder as the first version wrote it stays readable.
#   golden_test.sh <the heed command>
#   golden_test.sh <the heed command> record    writes the numbers anew, where a change of them is meant
data=$(cd "$(dirname "$0")" && pwd)/data
golden=("${PYTHON:-python3}" "$data/../golden.py")
record=$([ "${2:-}" != record ] || echo yes)
# shellcheck source=tests/cli/testing.sh
source "$(dirname "$0")/testing.sh"

same() {  # $1 says of what; $2 is the expected file, $3 the found one
  [ -z "$record" ] || cp "$3" "$2"
  "${golden[@]}" same "$2" "$3" >differences || { fault "$1: other numbers"; cat differences; }
}

# Ten steps are enough for every number to have come from every part: dropout, shards, clipping, the optimiser.
"$heed" corpus grammar corpus --pairs 300 --seed 7 >/dev/null 2>&1
training=(--source corpus/train.en --target corpus/train.fr --vocabulary words --batch-words 120 --steps 10
  --show-every 1 --validate-every 0 --save-every 0 --shards 2 --threads 1 --seed 7 --optimiser adam --schedule constant
  --learning-rate 0.03 --smoothing 0 --dropout 0.1)
text='there was this friend behind my office .' target='il y avait cet ami derrière mon bureau .'
golden_of() {  # $1 is the system, the rest its sizes
  local system=$1
  shift
  "$heed" train --model "$system" "${training[@]}" "$@" --output "$system" >output 2>&1 ||
    { fault "$system: it does not train"; cat output; return; }
  "$heed" explain "$system" "$text" --target "$target" --json >trace.json
  "${golden[@]}" of "$system" trace.json >"$system.json"
  same "$system" "$data/golden/$system.json" "$system.json"
}
golden_of seq2seq-lstm --layers 2 --embedding 8 --hidden 8
golden_of seq2seq-gru --embedding 8 --hidden 8 --maxout 8
golden_of rnnsearch --embedding 8 --hidden 8 --maxout 8
golden_of luong --layers 2 --embedding 8 --hidden 8
golden_of convs2s --layers 2 --decoder-layers 2 --embedding 8 --hidden 8
golden_of transformer --layers 2 --decoder-layers 2 --width 8 --feed-forward 16 --heads 2

# A folder of the first version: rnnsearch that has learnt sixty sentences by heart.
sixty_sentences train
folder1=$data/model-folder-1
"$heed" translate -m "$folder1" -i train.en >translated 2>/dev/null
cmp -s translated train.de || { fault 'model-folder-1: other translations'; diff translated train.de | head -5; }
"$heed" info "$folder1" >output
expect 'info of model-folder-1' 'rnnsearch (Bahdanau, Cho, Bengio 2015)' 'source.vocab.txt, 16 entries' \
  'target.vocab.txt, 16 entries' 'embedding            8 ' 'score                additive' '"steps": 600'
"$heed" explain "$folder1" 'the red tree stands' --json >trace.json
"${golden[@]}" of "$folder1" trace.json >found.json
same 'model-folder-1' "$data/model-folder-1.json" found.json
"$heed" explain "$folder1" 'the red tree stands' --alignment hard >output
expect 'alignment of model-folder-1' 'der rote baum steht ||| '
[ $faults -eq 0 ]
