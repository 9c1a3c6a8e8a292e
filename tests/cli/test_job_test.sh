#!/usr/bin/env bash
# A job that the command does not know, loaded into it from a library of its own: every command finds it and what it
# reads, gives and is called.
#   test_job_test.sh <the heed command> <the library of the job>
# shellcheck source=tests/cli/testing.sh
source "$(dirname "$0")/testing.sh"
job=$2

# A sanitiser's library does not come first where another is loaded before it; nothing here depends on that.
export ASAN_OPTIONS=verify_asan_link_order=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}
with_job() { LD_PRELOAD=$job "$heed" "$@"; }
# The library is for the command alone: what a sanitizer needs is not in grep.
printf '#!/bin/sh\nLD_PRELOAD=%q exec %q "$@"\n' "$job" "$heed" >with-job
chmod +x with-job
fails_with_job() {
  local heed=$PWD/with-job
  fails "$@"
}

# Images of 4 x 4 numbers as text: all dark, all light.
image() {  # $1 is the label, $2 a number that makes it another image
  local least=$([ "$1" = dark ] && echo 0 || echo 180) i
  echo 'P2 4 4 255'
  for i in {1..16}; do echo $((least + (i * 7 + $2 * 13) % 60)); done
}
for i in {1..12}; do
  for label in dark light; do
    image $label "$i" >$label$i.pgm
    printf '%s\t%s\n' $label $label$i.pgm >>list.tsv
  done
done

"$heed" models >output
! grep -q shad output || fault 'models: the job is there before it is loaded'
with_job models >output
expect 'models' 'shading: heed shade reads image (image), gives label (label)' 'shades ' 'translation: heed translate'
with_job --help >output
expect '--help' 'shade' 'Say how dark images are'
with_job train --help >output
expect 'train --help' '--image ' '--valid-image ' '--label ' '--valid-label '

with_job train --model shades --data list.tsv --valid list.tsv --steps 1200 --validate-every 300u --threads 1 --output model \
  >output 2>&1
expect 'train' 'shades with ' '2 labels' 'accuracy 100'
with_job shade model dark1.pgm light2.pgm dark3.pgm >output 2>/dev/null
[ "$(cut -f 1 output | tr '\n' ' ')" = 'dark light dark ' ] || { fault 'shade: not the right labels'; cat output; }
with_job shadow model light3.pgm >output 2>/dev/null
expect 'another spelling' 'light'
with_job run model light1.pgm --n-best 2 --json >output 2>/dev/null
expect 'run' '{"image":"light1.pgm","label":"light","probability":0.9' '"n_best":[{"label":"light"' '{"label":"dark","probability":'
with_job evaluate --model model --data list.tsv >output 2>/dev/null
expect 'evaluate' 'accuracy  macro-F1  micro-F1  cross-entropy' '100.00' 'In 95 % of 1000 draws of the samples:' \
  'accuracy 100.00 .. 100.00, macro-F1 100.00 .. 100.00' '   precision    recall  f1-score   support' \
  '        dark       1.00      1.00      1.00        12' 'weighted avg       1.00      1.00      1.00        24'
printf '%s\n' $'dark\tdark1.pgm' $'light\tdark2.pgm' $'light\tlight1.pgm' $'lihgt\tlight2.pgm' >wrong.tsv
with_job evaluate --model model --data wrong.tsv --unknown-labels count --confusion drawn.svg >output 2>said
expect 'wrong labels' '50.00' '        dark       0.50      1.00      0.67         1' '       lihgt       0.00      0.00      0.00         1'
grep -q '1 samples have labels that model does not know' said || fault 'unknown labels are not told of'
grep -q 'true light, predicted dark: 1 of 2 (50.0 %)' drawn.svg || fault 'the confusions are not drawn'
with_job evaluate --model model --data wrong.tsv --unknown-labels count --confusion drawn.png --json >output 2>said
expect 'JSON' '"macro-f1": 38.88' '"unknown_labels": 1' '"intervals": {' '"label": "lihgt"'
[ "$(head -c 4 drawn.png | tail -c 3)" = PNG ] || fault 'the confusions are no PNG'
with_job evaluate --model model --model model --data list.tsv --significance --draws 100 >output 2>said
expect 'two models' 'Against model, by 100 paired draws:' '+0.00 accuracy, 95 % within +0.00 .. +0.00, p = 1.0000'
fails_with_job 1 'wrong.tsv, line 4: the model model has no label lihgt; did you mean light?' evaluate --model model --data wrong.tsv
fails_with_job 1 'drawn.txt: a drawing'"'"'s name ends in .svg or .png' evaluate --model model --data list.tsv --confusion drawn.txt
fails_with_job 1 '--confusion is about labels' evaluate -r list.tsv list.tsv --confusion drawn.svg
fails_with_job 2 '--unknown-labels' evaluate --model model --data list.tsv --unknown-labels maybe
with_job score --model model --data list.tsv --summary >output
expect 'score' '24 samples, 24 labels, log-probability -'
with_job explain model light1.pgm --json >output
expect 'explain' '"version":2' '"job":"shading"' '{"name":"image","kind":"image","rows":4,"columns":4' '"name":"label","kind":"label"' \
  '"alignment_rows":"label","alignment_columns":"image"' '"choices":[{"label":"light","probability":0.9'
with_job explain model light1.pgm --trust >output
expect 'trust' 'light' 'comprehensiveness ' 'random comprehensiveness '
with_job info model >output
expect 'info' 'shading (heed shade)' 'dark, light'
with_job completion bash >output
expect 'completion' "'heed shade'" '--valid-image'

# What is wrong is said in the job's own words.
fails_with_job 1 'it is for shading; run it with heed shade' translate model dark1.pgm
fails_with_job 1 'it is no image that can be read here' shade model list.tsv
fails_with_job 1 'did you mean dark?' explain model light1.pgm --target drak
fails 1 'there is no job shading' info model

# The server: images come as base64.
LD_PRELOAD=$job "$heed" serve model --port 0 >said 2>log &
server=$!
until grep -q '^Serving at ' said; do
  kill -0 $server 2>/dev/null || { fault 'serve: it does not begin'; cat log; exit 1; }
  sleep 0.02
done
at=$(sed -n 's|^Serving at \(http://[^/]*\)/.*|\1|p' said)
curl -s "$at/models" >output
expect 'GET /models' '"job":"shading"' '"system":"shades"' '"kind":"image"'
encoded=$(base64 -w 0 light1.pgm)
curl -s "$at/explain" -d "{\"inputs\": {\"image\": {\"base64\": \"$encoded\"}}}" >output
expect 'POST /explain' '"job":"shading"' '"kind":"image"' '"text":"light"'
curl -s "$at/shade" -d "{\"image\": {\"base64\": \"$encoded\"}}" >output
expect 'POST /shade' 'light'
curl -s "$at/explain" -d '{"inputs": {"image": {"base64": "R0lG"}}}' >output
expect 'no image' 'it is no image that can be read here'
kill -TERM $server
wait $server || fault 'serve: it does not end well'
[ $faults -eq 0 ]
