#!/usr/bin/env bash
# heed compare on a corpus of a few hundred sentences: what it makes, that finished systems stay, and how it fails.
#   compare_test.sh <the heed command>
# shellcheck source=tests/cli/testing.sh
source "$(dirname "$0")/testing.sh"

"$heed" corpus grammar data --pairs 300 --valid 0.1 --test 0.1 >/dev/null
common=(--source data/train.en --target data/train.fr --valid-source data/valid.en --valid-target data/valid.fr
  --test-source data/test.en --test-target data/test.fr --vocabulary words --batch-words 256 --shards 2 --show-every 2 --validate-every 3u)
small=embedding=16,hidden=16
systems=("rnnsearch:$small,maxout=16" "rnnsearch:$small,maxout=16,score=general" "seq2seq-lstm:$small,layers=1")

"$heed" compare "${systems[@]}" "${common[@]}" --gold data/test.align --steps 6 --output made >output 2>log
expect 'compare' "| ${systems[0]} " "| ${systems[1]} " "| ${systems[2]} " 'BLEU' 'chrF' 'cross-entropy' 'AER' 'entropy' 'words/s' \
  'sentences/s' 'memory MB' 'parameters'
[ "$(grep -c 'learning a' log)" -eq 2 ] || { fault 'compare: the vocabularies are not learnt once'; cat log; }
cmp -s output made/comparison.md || fault 'compare: comparison.md is not the table'
grep -q '</svg>' made/comparison.svg || fault 'compare: no plot'
numbers() { sed -n "s/^ *\"$1\": \([^,]*\),*\$/\1/p" made/comparison.json; }
within() {  # the values of a field, all of which lie between two numbers
  numbers "$1" | awk -v low="$2" -v high="$3" '$1 == "null" || !($1 > low && $1 <= high) { exit 1 }' ||
    fault "compare: $1 is outside $2..$3: $(numbers "$1" | paste -sd' ')"
}
[ "$(numbers steps | paste -sd' ')" = '6 6 6' ] || fault "compare: steps are $(numbers steps)"
[ "$(numbers step | paste -sd' ')" = '3 6 3 6 3 6' ] || fault "compare: the curves have steps $(numbers step | paste -sd' ')"
within bleu -1 100
within cross_entropy 1 20
within training_words_per_second 0 1e9
within decoding_sentences_per_second 0 1e9
within parameters 1000 1e7
within peak_bytes 4000 1e9
# What only attention has: two numbers, and nothing for the system without it.
for field in aer attention_entropy; do
  numbers $field | awk '(NR < 3) == ($1 == "null") || (NR < 3 && !($1 > 0 && $1 < 3.3)) { exit 1 }' ||
    fault "compare: $field is $(numbers $field | paste -sd' ')"
done
for system in made/rnnsearch-* made/seq2seq-*; do
  cmp -s made/source.vocab.txt "$system/source.vocab.txt" || fault "$system: it has another vocabulary"
done

# Again: nothing is trained, the scores stay.
scores() { sed 's/|/\n/g' "$1" | grep -E '^ +[0-9]+\.[0-9]{2,3} ' || true; }
scores output >first
cp made/seq2seq-lstm*/model.safetensors kept
"$heed" compare "${systems[@]}" "${common[@]}" --gold data/test.align --steps 6 --output made >output 2>log
[ "$(grep -c 'going on after step 6' log)" -eq 3 ] || { fault 'again: not all are kept'; cat log; }
scores output | cmp -s - first || { fault 'again: other scores'; cat output first; }
cmp -s kept made/seq2seq-lstm*/model.safetensors || fault 'again: other weights'

# So few steps that there is one validation: a table, and no curve of a single point.
"$heed" compare "${systems[@]:0:2}" "${common[@]}" --steps 1 --output once >output 2>log
expect 'one step' "| ${systems[0]} " 'BLEU'
[ ! -e once/comparison.svg ] || fault 'one step: a curve of one point'
fails 1 'trained otherwise; --force replaces it' compare "${systems[@]}" "${common[@]}" --steps 7 --output made
fails 1 'a folder of files' compare "${systems[@]}" "${common[@]}" --steps 6 --output -
[ ! -e - ] || fault "a folder called -"
fails 1 'at least two systems' compare rnnsearch "${common[@]}" --steps 6 --output x
fails 1 'is there twice' compare rnnsearch rnnsearch "${common[@]}" --steps 6 --output x
fails 1 'did you mean luong?' compare rnnsearch luon "${common[@]}" --steps 6 --output x
fails 2 'did you mean dropout?' compare rnnsearch luong:dropuot=1 "${common[@]}" --steps 6 --output x
fails 2 'expected name=value' compare rnnsearch luong:dropout "${common[@]}" --steps 6 --output x
fails 1 'all systems have the same steps' compare rnnsearch luong:steps=3 "${common[@]}" --steps 6 --output x
fails 1 'nothing ends this training' compare rnnsearch luong "${common[@]}" --output x
fails 1 'say how long each system is trained' compare rnnsearch luong "${common[@]}" --patience 3 --output x
fails 1 'data/train.align: it has' compare rnnsearch luong "${common[@]}" --steps 6 --gold data/train.align --output x
fails 2 'required' compare rnnsearch luong "${common[@]}" --steps 6
[ ! -e x ] || fault 'a folder was made for a comparison that could not begin'
[ $faults -eq 0 ]
