#!/usr/bin/env bash
# heed summarise from a corpus to a summary: names that no vocabulary has are copied, lengths are kept, what is copied is
# marked, summaries stand beside the baselines.
#   summarise_test.sh <the heed command>
# shellcheck source=tests/cli/testing.sh
source "$(dirname "$0")/testing.sh"

"$heed" corpus headlines h --texts 1200 --valid 0.05 --test 0.05 >output
expect 'headlines' 'Written to h/train.text, h/train.summary, h/train.align'
[ "$(cat h/*.summary | wc -l)" -eq 1200 ] || fault 'headlines: not 1200 of them'
[ "$(awk '{ print NF }' h/test.summary | sort -u)" = 5 ] || fault 'headlines: not five words each'
fails 1 'h/train.text: it is there already' corpus headlines h
fails 1 '0 texts make no corpus' corpus headlines none --texts 0

"$heed" train --job summarisation --model rnnsearch --preset small --copy true --vocabulary words \
  --vocabulary-size 140 --embedding 32 --hidden 48 --maxout 32 --dropout 0 --batch-words 512 --learning-rate 0.01 \
  --schedule inverse-root --warm-up 30 --text h/train.text --summary h/train.summary \
  --valid-text h/valid.text --valid-summary h/valid.summary --steps 600 --output m >/dev/null 2>&1

# A name that the training never had is written as it stands in the text.
text='on monday the baker Zzyx bought a small mill in Qqford .'
"$heed" summarise m "$text" >output
expect 'copying' 'Zzyx' 'Qqford'
"$heed" summarise m "$text" --most-words 2 >output
[ "$(wc -w <output)" -le 2 ] || fault 'more than two words are written'
"$heed" summarise m "$text" --most-bytes 9 >output
[ "$(wc -c <output)" -le 10 ] || fault 'more than nine bytes are written'
"$heed" summarise m "$text" --least-words 12 --no-repeat-ngram 2 >output
[ "$(wc -w <output)" -ge 12 ] || fault 'fewer than twelve words are written'
fails 1 'at least 5 and at most 2 words' summarise m "$text" --least-words 5 --most-words 2

"$heed" explain m "$text" >output
expect 'explain' 'Zzyx <' 'Qqford <'
"$heed" explain m "$text" --json >trace.json
python3 - <<'END' || fault 'the trace does not say what was copied'
import json
trace = json.load(open("trace.json"))
tokens = [token["text"] for token in trace["axes"][1]["tokens"]]
assert len(tokens) == len(trace["copied"]) == len(trace["generation_probabilities"]), trace
assert trace["copied"][tokens.index("Zzyx")] > 0.99, trace["copied"]
END
"$heed" explain m "$text" --target 'Zzyx buys mill' --json >trace.json
grep -q '"copied":\[' trace.json || fault 'a summary that is given has no copied words'
"$heed" view trace.json >output
expect 'view' 'Zzyx <'

"$heed" evaluate --model m --data h/test.text,h/test.summary --format lines --gold h/test.align --draws 100 >output
expect 'evaluate' 'gold share' 'the model' 'first 5 words' 'first sentence' 'best sentence' '75 bytes, R' 'copied'
printf '\n' | "$heed" summarise m >output
[ "$(cat output)" = '' ] || fault 'an empty text has a summary'

# The paper's own system, and what its words gain by standing in the text.
"$heed" train --model abs --preset small --encoder attention --vocabulary words --vocabulary-size 140 --embedding 16 \
  --hidden 24 --text h/train.text --summary h/train.summary --steps 40 --output a >/dev/null 2>&1
"$heed" tune a --text h/valid.text --summary h/valid.summary --n-best 4 --rounds 2 >output 2>&1
expect 'tune' 'before' 'unigram' 'reordering'
[ -s a/extractive.json ] || fault 'the weights are not kept'
"$heed" summarise a "$text" >/dev/null || fault 'a tuned model does not run'
rm -f a/digests.json  # else it is the digest that tells
echo '{}' >a/extractive.json
fails 1 'extractive.json: it is damaged: unigram is missing' summarise a "$text"

[ $faults -eq 0 ]
