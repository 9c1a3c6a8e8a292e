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
# Given choices are all that is explained; lines of JSON have theirs.
"$heed" explain reader 'linda took the lamp to the barn .' 'the lamp is in the _ .' --choices 'barn|tower' --json >trace.json
grep -q '"choices":\[{"label":"[a-z]*","probability":[0-9.]*},{"label":"[a-z]*","probability":[0-9.e-]*}\]' trace.json ||
  { fault 'explain: not the two choices'; cat trace.json; }
echo '{"document": "linda took the lamp to the barn .", "question": "the lamp is in the _ .", "choices": ["barn", "tower"]}' \
  >line.jsonl
"$heed" explain reader --input line.jsonl --json >lines.json
cmp -s trace.json lines.json || fault 'explain: a line of JSON has another trace'
"$heed" answer reader line.jsonl --n-best 5 >output
[ "$(wc -l <output)" -eq 2 ] || { fault 'answer: a line of JSON has not its two choices'; cat output; }
echo '{"document": "linda"}' >bad.jsonl
fails 1 'line 1: without the field question' answer reader bad.jsonl
fails 1 '[answer] line 1: the choice barn is given twice' explain reader 'the barn .' 'XXXXX' --choices 'barn|barn'
"$heed" train --model aoa --data s/train.tsv --valid s/valid.tsv --embedding 16 --hidden 12 --learning-rate 0.02 \
  --steps 40 --validate-every 20u --threads 1 --shards 2 --output aoa >output 2>&1
"$heed" explain aoa 'linda took the lamp' 'the _ is here' --attention pairs >output
expect 'both directions' 'the →' 'the ←' 'XXXXX →' 'XXXXX ←'
"$heed" explain aoa 'linda took the lamp' 'the _ is here' --attention pairs --svg pairs.svg >/dev/null
grep -q 'XXXXX ←' pairs.svg || fault 'explain: both directions are not drawn'
fails 1 'no two axes of the model reader look at each other' explain reader 'a b' '_ b' --attention pairs

# Answers chosen anew by language models.
"$heed" tune aoa --data s/valid.tsv --order 4 --classes 8 --n-best 5 >output 2>&1
expect 'tune' 'Right answers: ' 'before' 'after' 'global' 'local' 'classes'
[ -s aoa/reranking.ngrams ] || fault 'tune: the language models are not kept'
after=$(grep -o '[0-9.]* % after' output | cut -d' ' -f1)
"$heed" evaluate --model aoa --data s/valid.tsv --draws 0 >output
grep -q " $after " output || { fault "evaluate: not the $after % that tuning found"; cat output; }
"$heed" evaluate --model aoa --data s/valid.tsv --draws 0 --no-rerank >output || fault 'evaluate --no-rerank'
mv s/train.tsv s/moved.tsv
fails 1 's/train.tsv: the model was trained on it, and it is not there; --documents names it or another' \
  tune aoa --data s/valid.tsv
"$heed" tune aoa --data s/valid.tsv --documents s/moved.tsv >output 2>&1 || fault 'tune --documents'
mv s/moved.tsv s/train.tsv
printf 'x' | dd of=aoa/reranking.ngrams bs=1 seek=40 conv=notrunc 2>/dev/null
fails 1 'reranking.ngrams' answer aoa "$line"

"$heed" train --resume --output reader --steps 61 >output 2>&1
expect 'resume' 'going on after step 60'
[ $faults -eq 0 ]
