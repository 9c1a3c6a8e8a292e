#!/usr/bin/env bash
# What `heed align` and `heed shortlist` write, and how they fail.
#   align_test.sh <the heed command>
# shellcheck source=tests/cli/testing.sh
source "$(dirname "$0")/testing.sh"

"$heed" corpus grammar data --pairs 1500 --valid 0.1 --test 0.1 >/dev/null
lines=$(wc -l <data/train.en)
below() {  # the output has an AER below $2
  awk -v most="$2" '$1 == "AER" { found = 1; if ($2 + 0 >= most) exit 1 } END { exit !found }' output || { fault "$1:"; cat output; }
}

# Its own pairs, and others with what was learnt.
"$heed" align data/train.en data/train.fr --gold data/train.align --output links >output 2>log
expect 'align' "$lines pairs of sentences" 'links' 'precision' 'recall'
below 'the links of a grammar' 0.13
[ "$(wc -l <links)" -eq "$lines" ] || fault "$(wc -l <links) lines of links for $lines pairs"
grep -qvE '^([0-9]+-[0-9]+( |$))*$' links && fault 'there are lines that are no links'
grep -q 'Aligning: 100 %' log || fault 'no bar'
"$heed" align data/test.en data/test.fr --learn data/train.en,data/train.fr --gold data/test.align -o test.links >output 2>log
below 'other sentences' 0.13
"$heed" align --learn data/train.en,data/train.fr --learn data/test.en,data/test.fr data/test.en data/test.fr \
  --gold data/test.align -o test.links >output 2>log
below 'learning from two texts' 0.13
cp test.links first.links
paste data/train.en data/train.fr >train.tsv
paste data/test.en data/test.fr >test.tsv
"$heed" align test.tsv --learn train.tsv,test.tsv -o test.links >output 2>log
cmp -s test.links first.links || fault 'learning from two tables: other links'

# The same for any number of threads, from a packed table, and to the standard output.
gzip <train.tsv >table.tsv.gz
for threads in 1 2 3; do
  "$heed" align table.tsv.gz --threads $threads 2>log | cmp -s - links || fault "$threads threads: other links"
done
sed 's/.*/\U&/' data/train.en >loud.en
"$heed" align loud.en data/train.fr --lowercase 2>log | cmp -s - links || fault '--lowercase: other links'

# Ways to join: the intersection is in the others, and these are in the union.
for join in grow-diag-final-and grow-diag intersection union forward backward; do
  "$heed" align data/train.en data/train.fr --join $join -o "$join" >/dev/null 2>log
  tr ' ' '\n' <"$join" | grep -c - >"$join.count"
done
cmp -s grow-diag-final-and links || fault 'it is not the default'
for join in grow-diag-final-and grow-diag forward backward; do
  [ "$(cat intersection.count)" -le "$(cat $join.count)" ] && [ "$(cat $join.count)" -le "$(cat union.count)" ] ||
    fault "$join: $(cat intersection.count) $(cat $join.count) $(cat union.count)"
done
for model in '--hmm-iterations 0' '--model2-iterations 1' --separate; do
  # shellcheck disable=SC2086
  "$heed" align data/train.en data/train.fr $model -o other >output 2>log
  cmp -s other links && fault "$model: the same links"
done

# Lines that cannot be used keep their places.
{ head -n 40 data/train.en && echo && sed -n '41,60p' data/train.en && printf 'bad \xff\n' && printf 'word %.0s' {1..300} && echo; } >some.en
{ head -n 40 data/train.fr && echo x && sed -n '41,60p' data/train.fr && echo x && echo x; } >some.fr
"$heed" align some.en some.fr --output some.links >output 2>log
expect 'bad lines' '63 pairs of sentences'
[ "$(grep -n '^$' some.links | paste -sd' ')" = '41: 62: 63:' ] || fault "empty lines: $(grep -n '^$' some.links | paste -sd' ')"
grep -q 'left out, too long' log || { fault 'nothing is said about a long line'; cat log; }

head -n 30 some.fr >short.fr
fails 1 'fewer lines' align some.en short.fr -o never
fails 1 'missing' align data/train.en missing -o never
fails 1 'did you mean grow-diag?' align data/train.en data/train.fr --join grow-dia -o never
fails 1 'it has 63 lines, but there are' align data/train.en data/train.fr --gold some.links -o never
fails 1 'line 1: [alignment]' align data/train.en data/train.fr --gold data/train.en -o never
fails 1 'no/such/folder' align data/train.en data/train.fr -o no/such/folder/links
: >nothing
fails 1 'there is no pair of sentences in it' align nothing nothing -o never
fails 2 '--hmm-iterations' align data/train.en data/train.fr --hmm-iterations -1 -o never
[ ! -e never ] || fault 'a failed command wrote a file'

# Shortlists of words.
"$heed" shortlist data/train.en data/train.fr --output lex >output 2>log
expect 'shortlist' "pairs of words of $lines pairs of sentences"
grep -qE '^le the 0\.[0-9]+$' lex || fault 'no line for "le the"'
awk 'NF != 3 || $3 <= 0 || $3 > 1 { exit 1 } { sum[$2] += $3 } END { for (w in sum) if (sum[w] > 1.00001) exit 1 }' lex ||
  fault 'these are no probabilities'
"$heed" align data/train.en data/train.fr --join union --separate --output wide >/dev/null 2>log
"$heed" shortlist data/train.en data/train.fr --alignments wide --output - >piped 2>log
cmp -s piped lex || fault 'with the same links: another shortlist'
"$heed" shortlist data/train.en data/train.fr --alignments links --best 2 --threshold 0.01 --output few >/dev/null 2>log
awk '$3 <= 0.01 { exit 1 } ++count[$2] > 2 { exit 1 }' few || fault '--best or --threshold: not held'

# A training aligns its pairs itself, which is the same as giving it the links.
common=(--model rnnsearch --source data/train.en --target data/train.fr --valid-source data/valid.en --valid-target data/valid.fr
  --embedding 8 --hidden 8 --maxout 8 --vocabulary-size 300 --steps 2 --batch-words 256 --shards 1)
"$heed" train "${common[@]}" --align --output model >log 2>&1 || { fault 'train --align:'; cat log; }
cmp -s model.align links || fault 'train --align: other links'
"$heed" train "${common[@]}" --alignments links --output given >log 2>&1 || { fault 'train --alignments:'; cat log; }
cmp -s model/model.safetensors given/model.safetensors || fault 'train --align: another model than with --alignments'
"$heed" train "${common[@]}" --output unguided >log 2>&1
cmp -s model/model.safetensors unguided/model.safetensors && fault 'train --align: nothing is guided'
fails 1 '--align: it takes the place of --alignments' train "${common[@]}" --align --alignments links --output never
fails 1 'there is a model already' train "${common[@]}" --align --output given
fails 1 '--alignment-end: there are no links' train "${common[@]}" --alignment-end --output never
[ ! -e given.align ] || fault 'links beside a model that stays'
fails 1 '--align is for a new training' train --resume --align --output given

# Of the pieces of a model.
"$heed" shortlist data/train.en data/train.fr --model model --output pieces >output 2>log
expect 'pieces' 'target words are allowed per sentence' '% of the words of these translations'
grep -q '▁le ▁the 0\.' pieces || { fault 'no line for pieces'; head pieces; }
"$heed" shortlist data/train.en data/train.fr --model model --alignments links --binary --output lex.bin >output 2>log
[ "$(od -An -tx8 -N8 lex.bin)" = ' f11a48d5013417f5' ] || fault "the binary form begins with $(od -An -tx8 -N8 lex.bin)"

fails 1 '--binary: it has numbers' shortlist data/train.en data/train.fr --binary -o never
head -n 50 links >fifty
fails 1 'it has 50 lines, but there are' shortlist data/train.en data/train.fr --alignments fifty -o never
cat links links >double
fails 1 'it has more lines' shortlist data/train.en data/train.fr --alignments double -o never
fails 1 'line 1 is not of links' shortlist data/train.en data/train.fr --alignments data/train.en -o never
{ echo 0-77 && tail -n +2 links; } >wrong
fails 1 'line 1: the link 0-77 is outside its sentences' shortlist data/train.en data/train.fr --alignments wrong -o never
fails 1 'data' shortlist data/train.en data/train.fr --model data -o never
[ ! -e never ] || fault 'a failed command wrote a file'

"$heed" align --help >output
expect 'help' 'Examples:' 'heed align train.en train.fr --output train.align'
[ $faults -eq 0 ]
