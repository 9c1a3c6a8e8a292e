#!/usr/bin/env bash
# A demo of few steps: what it leaves, that it is used again, and what it refuses.
#   demo_test.sh <the heed command>
# shellcheck source=tests/cli/testing.sh
source "$(dirname "$0")/testing.sh"

"$heed" demo --pairs 600 --steps 6 >output 2>log
expect 'demo' 'its own attention' 'pairs for training' 'unseen sentences: BLEU' 'alignment error rate' 'heed-demo/model'
[ "$(grep -c '^→ ' output)" -eq 5 ] || { fault 'demo: not five translations'; cat output; }
for file in train.en train.fr train.align test.en demo.json model/model.safetensors; do
  [ -s heed-demo/$file ] || fault "demo: $file is missing"
done
head -1 heed-demo/test.en | "$heed" translate --model heed-demo/model >/dev/null 2>&1 || fault 'demo: its model does not translate'

# The same again trains nothing; another attention takes the place of the model, not of the corpus.
cp heed-demo/model/model.safetensors kept
cp -p heed-demo/train.en before.en
"$heed" demo --pairs 600 --steps 6 --threads 1 >output 2>log
grep -qF 'going on after step 6' log || { fault 'again: it does not go on'; cat log; }
cmp -s kept heed-demo/model/model.safetensors || fault 'again: other weights'
"$heed" demo --pairs 600 --steps 3 --score general --normaliser sparsemax >output 2>log
expect 'another attention' 'its own attention (score general, normaliser sparsemax)' 'BLEU'
"$heed" info heed-demo/model >output
grep -qE 'score +general' output && grep -qE 'normaliser +sparsemax' output || fault 'another attention: it is not in the model'
[ ! heed-demo/train.en -nt before.en ] || fault 'another attention: the corpus was written again'

# A demo has the attention of its own model: of listeners that which knows where it was.
"$heed" demo transcribe --samples 40 --steps 1 --output spoken >output 2>log
"$heed" info spoken/model >output
grep -qE 'score +location-aware' output || { fault 'a demo has an attention that is not its own'; cat output log; }
# A file of inputs is a list whatever its ending, and a run may set what no weights depend on.
cut -f1 spoken/test.tsv | head -n 2 >spoken/list
"$heed" transcribe spoken/model --input spoken/list --set window=median --set half-width=20 >output 2>log
[ "$(grep -c '^spoken/sounds/test-' output)" -eq 2 ] || { fault 'a list of sounds is not read'; cat output log; }
# A greedy search sums no probabilities, unless a transcript has to say how sure it is of each word.
"$heed" transcribe spoken/model --input spoken/list --search greedy --output ctm >output 2>log
awk '{ sure += $6 } END { exit !(NR > 0 && sure < 0.9 * NR) }' output || { fault 'a greedy transcript is too sure'; cat output log; }
code=0
"$heed" transcribe spoken/model --input spoken/list --set hidden=3 >output 2>&1 || code=$?
[ $code -eq 1 ] || fault "a setting with weights: exit code $code, not 1"
expect 'a setting with weights' 'hidden is not what a run can set'

# Nothing of others is replaced.
mkdir mine
echo 'my own' >mine/train.en
code=0
"$heed" demo --output mine >output 2>&1 || code=$?
[ $code -eq 1 ] || fault "a foreign folder: exit code $code, not 1"
expect 'a foreign folder' 'mine: it is there, and no demo made it'
[ "$(ls mine)|$(cat mine/train.en)" = 'train.en|my own' ] || fault 'a foreign folder: it was written to'
code=0
"$heed" demo --attention bahdanu --output other >output 2>&1 || code=$?
[ $code -eq 1 ] && [ ! -e other ] || fault 'an unknown attention: it went on'
expect 'an unknown attention' 'did you mean bahdanau?'
[ $faults -eq 0 ]
