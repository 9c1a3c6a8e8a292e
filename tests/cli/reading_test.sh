#!/usr/bin/env bash
# Questions from files and from texts, a reader that is trained on them, and what it answers.
#   reading_test.sh <the heed command>
# shellcheck source=tests/cli/testing.sh
source "$(dirname "$0")/testing.sh"

"$heed" corpus stories s --documents 400 --valid 0.1 --test 0.1 >output
expect 'corpus stories' 'Written to s/train.tsv'
[ "$(awk -F'\t' 'NF != 3' s/*.tsv | wc -l)" -eq 0 ] || fault 'corpus stories: a line has not three columns'
[ "$(wc -l <s/test.tsv)" -eq "$(wc -l <s/test.gold.jsonl)" ] || fault 'corpus stories: the gold is not line by line'

# A book of one line, in which only things are behind articles.
for i in {1..24}; do printf 'Then Anna gave the %s a %s . ' "$([ $((i % 2)) = 0 ] && echo dog || echo cat)" \
  "$([ $((i % 3)) = 0 ] && echo bone || echo ball)"; done >book
echo >>book
"$heed" corpus cloze c book --candidates 4 --step 1 --valid 0 --test 0 >output
expect 'corpus cloze' '1 texts, 0 of them too short' '4 questions to train on'
grep -q '"question":"Then Anna gave the .*XXXXX' c/train.jsonl || { fault 'corpus cloze: no question'; cat c/train.jsonl; }
fails 1 'c/train.jsonl: it is there already; --force replaces it' corpus cloze c book
fails 1 '--words: verbs is none of names, nouns and any' corpus cloze other book --words verbs

"$heed" train --model as-reader --data s/train.tsv,c/train.jsonl --valid s/valid.tsv --output never >output 2>&1 &&
  fault 'train: two formats at once'
"$heed" train --model as-reader --data s/train.tsv --valid s/valid.tsv --embedding 16 --hidden 12 --learning-rate 0.02 \
  --steps 60 --validate-every 30u --threads 1 --shards 2 --output reader >output 2>&1
expect 'train' 'as-reader with ' 'vocabularies of' 'accuracy'
[ ! -e reader/answer.labels.txt ] || fault 'train: a reader has labels'

line=$'linda took the lamp to the barn . oswen left the kite in the tower .\tyou should look for the lamp in the _ .'
echo "$line" | "$heed" answer reader --json >output
expect 'answer' '"question":"you should look for the lamp in the _ .","answer":"' '"score":0.' '"start":' '"end":'
printf '%s\tbarn|tower\n' "$line" | "$heed" answer reader --n-best 5 >output
[ "$(wc -l <output)" -eq 2 ] || { fault 'answer: not two choices'; cat output; }
echo $'a b\tno blank' >bad
fails 1 '[answer] line 1: the question has no blank, such as XXXXX' answer reader bad
"$heed" evaluate --model reader --data s/test.tsv >output 2>&1
expect 'evaluate' 'accuracy' 'most frequent candidate: accuracy '
printf '%s\n' $'tower\tthe tower .\tXXXXX' $'barn\tthe tower .\tXXXXX .' >two.tsv
"$heed" evaluate --model reader --data two.tsv --draws 0 >output 2>&1
expect 'an answer that does not occur' 'accuracy'
"$heed" explain reader 'linda took the lamp to the barn .' 'the lamp is in the _ .' --svg drawn.svg >output 2>&1
grep -q barn drawn.svg || fault 'explain: the document is not drawn'
"$heed" train --resume --output reader --steps 61 >output 2>&1
expect 'resume' 'going on after step 60'
[ $faults -eq 0 ]
