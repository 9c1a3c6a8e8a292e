#!/usr/bin/env bash
# What `heed evaluate` prints and how it fails.
#   evaluate_test.sh <the heed command>
# shellcheck source=tests/cli/testing.sh
source "$(dirname "$0")/testing.sh"

printf '%s\n' 'The old dog sleeps in the garden.' 'It is 1,000.5 metres away.' >ref
printf '%s\n' 'The old dog sleeps in a garden.' 'It is 1,000.5 metres away.' >good
printf '%s\n' 'A dog is in the garden' 'It was 1,000.5 away.' >bad
printf '%s\n' 'Der alte Hund schläft im Garten .' 'Es ist 1.000,5 Meter weit weg bis dort hin , sagt man .' >source
gzip -k good

# The numbers are sacreBLEU 2.6.0's for these files.
"$heed" evaluate --reference ref good >output
expect 'plain scores' 76.28 87.92 'nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:heed-' \
  'nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:heed-'
"$heed" evaluate --reference ref - <good >piped
"$heed" evaluate --reference ref good.gz >packed
cmp <(tail -n 2 output) <(tail -n 2 packed)
cmp <(sed -n 2p output | sed 's/^good *//') <(sed -n 2p packed | sed 's/^good.gz *//')
cp piped output
expect 'from the standard input' 'standard input' 76.28

"$heed" evaluate -r ref -r good bad --lowercase --tokenize char --chrf-words 2 >output
expect 'two references, other options' 49.24 44.74 'nrefs:2|case:lc|eff:no|tok:char|smooth:exp' 'nw:2'

"$heed" evaluate -r ref --source source --by-length figure.svg --significance --name first --name second good bad >output
expect 'side by side' first second '1-10                  1' '11-20                 1' 'Against first, by 1000 paired draws' 'p = '
grep -q '</svg>' figure.svg
"$heed" evaluate -r ref --source source --by-length - --name first --name second good bad | cmp - figure.svg
fails 1 'it can take --by-length or --json' evaluate -r ref --source source --by-length - --json good
[ ! -e - ]

"$heed" evaluate -r ref good bad --json >output
expect 'JSON' '"name": "good"' '"name": "bad"' '"brevity_penalty": 1.0' '"chrf_name": "chrF2"'

# Other metrics. The numbers are those of rouge-score, jiwer and pycocoevalcap.
printf '%s\n' 'the cat sat on the mat' 'seven one three two' >right
printf '%s\n' 'the cat is on the mat' 'seven three two' >said
"$heed" evaluate -r right said --metrics rouge1,rougeL,wer,cer >output
expect 'metrics' 'in 95 % of 1000 draws' 'ROUGE-1   84.52' 'ROUGE-L   84.52' 'WER       20.00' \
  'nrefs:1|case:lc|tok:rouge-score|stem:no|refs:best|bytes:all|version:heed-' 'nrefs:1|case:mixed|unit:char|refs:best|version:heed-'
"$heed" evaluate -r right said right --metrics wer --metrics bleu --significance --draws 200 --json >output
expect 'metrics as JSON' '"wer": {' '"score": 20.0' '"against_first": {' '"difference": -20.0' '"signatures": {' '"bleu": "nrefs:1|'
"$heed" evaluate -r right said --metrics wer --draws 0 >output
expect 'no intervals' 'WER      20.00'
! grep -q '\.\.' output || fault 'intervals of no draws'
"$heed" evaluate -r right said --metrics wer --draws 0 --json >output
! grep -q '"low"' output || fault 'intervals of no draws in JSON'
"$heed" evaluate -r right -r said --metrics rouge1 --stem --bytes 75 --pooled said >output
expect 'options of ROUGE' 'nrefs:2|case:lc|tok:rouge-score|stem:porter|refs:pooled|bytes:75'

printf '%s\n' '1-1 2-2 2?3 3p3' >gold
printf '%s\n' '0-0 1-2 3-3' >links
"$heed" evaluate --alignment links --gold gold --gold-first 1 >output
expect 'alignments' 0.4000 0.6667 0.5000

head -n 1 good >short
: >nothing
fails 1 '[evaluate] short has 1 lines, but ref has 2' evaluate -r ref short
fails 1 'nothing is empty' evaluate -r nothing good
fails 1 'missing' evaluate -r ref missing
fails 1 'links, line 1: [alignment]' evaluate -a links --gold links --alignment-first 1
fails 1 '--alignment and --gold go together' evaluate -a links
fails 1 '--by-length needs --source' evaluate -r ref good --by-length x.svg
fails 1 'there is no tokeniser 13b; did you mean 13a?' evaluate -r ref good --tokenize 13b
fails 1 'there is no metric rogue1; did you mean rouge1?' evaluate -r ref good --metrics rogue1
fails 1 '--metrics are about translations' evaluate -a links --gold gold --gold-first 1 --metrics wer
fails 1 'compares at least two' evaluate -r ref good --significance
fails 1 'give translations with --reference' evaluate
fails 2 '--refrence' evaluate --refrence ref good
[ ! -e x.svg ]

"$heed" evaluate --help >output
expect 'help' 'Examples:' 'heed evaluate --reference test.de output.de'
[ $faults -eq 0 ]
