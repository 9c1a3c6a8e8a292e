#!/usr/bin/env bash
# heed corpus reviews and inference: the files they make, that they are the same again, and how they fail.
#   corpus_test.sh <the heed command>
# shellcheck source=tests/cli/testing.sh
source "$(dirname "$0")/testing.sh"

"$heed" corpus reviews r --documents 300 --valid 0.1 --test 0.2 >output
expect 'reviews' 'samples for training' 'for the test' "Written to r/train.tsv"
[ "$(cat r/*.tsv | wc -l)" -eq 300 ] || fault 'reviews: not 300 documents'
[ "$(wc -l <r/test.gold.jsonl)" -eq "$(wc -l <r/test.tsv)" ] || fault 'reviews: the gold is not line by line'
[ "$(cut -f1 r/train.tsv | sort -u | xargs)" = 'bad good open' ] || fault 'reviews: other labels'
"$heed" corpus reviews again --documents 300 --valid 0.1 --test 0.2 >output
diff -r r again >output || fault 'reviews: the same seed gives other files'
fails 1 'r/train.tsv: it is there already; --force replaces it' corpus reviews r

"$heed" corpus inference i --pairs 300 --valid 0.1 --test 0.2 --seed 4 >output
[ "$(cat i/*.tsv | awk -F'\t' 'NF == 3' | wc -l)" -eq 300 ] || fault 'inference: not 300 pairs of three columns'
[ "$(wc -l <i/test.links)" -eq "$(wc -l <i/test.tsv)" ] || fault 'inference: the links are not line by line'
[ "$(cut -f1 i/train.tsv | sort -u | xargs)" = 'contradiction entailment neutral' ] || fault 'inference: other labels'
fails 1 '0 pairs are asked for' corpus inference none --pairs 0
[ ! -e none ] || fault 'inference: a folder is left behind'

[ $faults -eq 0 ]
