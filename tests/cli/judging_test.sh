#!/usr/bin/env bash
# A judge of pairs that is trained, goes on with other samples, and refuses what it cannot judge.
#   judging_test.sh <the heed command>
# shellcheck source=tests/cli/testing.sh
source "$(dirname "$0")/testing.sh"

"$heed" corpus inference i --pairs 300 >output
small=(--threads 1 --shards 1)
"$heed" train --model rocktaschel --data i/train.tsv --embedding 8 --hidden 8 --steps 5 "${small[@]}" \
  --output first >output 2>&1
expect 'train' 'rocktaschel with ' '3 labels'

"$heed" train --from first --data i/test.tsv --steps 5 "${small[@]}" --output second >output 2>&1
expect 'train --from' 'beginning with the weights of first' 'done after 5 steps'
cmp -s first/premise.tokens.txt second/premise.tokens.txt || fault 'train --from: another vocabulary'
fails 1 '--model: han is asked for, but the model of --from first has rocktaschel' \
  train --from first --model han --data i/test.tsv --steps 1 --output third
fails 1 "but the model's is" train --from first --hidden 9 --data i/test.tsv --steps 1 --output third
fails 1 'none: there is no such model folder' train --from none --data i/test.tsv --steps 1 --output third
[ ! -e third ] || fault 'train --from: a refused training left a folder'

printf 'a dog sleeps .\tan animal sleeps .\n' >pairs
"$heed" entail second pairs >output 2>/dev/null
grep -qE '^(contradiction|entailment|neutral)' output || { fault 'entail: no label'; cat output; }
printf ' \tan animal sleeps .\n' >>pairs
fails 1 'pairs, line 2: the premise is empty' entail second pairs
printf 'a dog sleeps .\n' | fails 1 'standard input, line 1: it must have premise and hypothesis' entail second
printf 'a\tb\tc\n' | fails 1 'separated by tabs, not 3 columns' entail second
fails 1 'the hypothesis is empty' explain second 'a dog' ''

[ $faults -eq 0 ]
