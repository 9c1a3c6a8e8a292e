#!/usr/bin/env bash
# heed explain on a small Transformer: its pictures, JSON and text forms, what can be picked, and how it fails.
#   explain_test.sh <the heed command>
# shellcheck source=tests/cli/testing.sh
source "$(dirname "$0")/testing.sh"

sixty_sentences train
"$heed" train --source train.en --target train.de --output model --width 16 --feed-forward 32 --heads 2 --layers 2 \
  --decoder-layers 2 --vocabulary-size 60 --dropout 0 --epochs 25 --validate-every 0 --learning-rate 0.01 --warm-up 40 \
  --batch-words 128 --seed 3 2>/dev/null
explain=("$heed" explain model)
text='the red tree stands' target='der rote baum steht' number=0

# The picture of a given translation: everything but the weights is known.
rows() { sed -E "2,\$s/^( *($1)) .*/\1/; /^\$/d" output; }
"${explain[@]}" "$text" --target "$target" >output
[ "$(rows 'der|rote|baum|steht')" = "$target
            s
            t
          t a
      t r r n
      h e e d
      e d e s
  der
 rote
 baum
steht" ] || { fault 'picture: not as expected'; cat output; }
"${explain[@]}" "$text" --color true >output
expect 'true colour' "$target" $'\e[48;2;'
"${explain[@]}" "$text" --color 256 --search greedy >output
expect '256 colours' "$target" $'\e[48;5;'
"${explain[@]}" "$text" --level token --end keep >output
grep -qE '^ *</s> ' output || { fault 'tokens: no end'; cat output; }
"${explain[@]}" "$text" --attention encoder.self --rollout >output
[ "$(rows 'the|red|tree|stands' | tail -4)" = '   the
   red
  tree
stands' ] || { fault 'rollout: the rows are not the source'; cat output; }
"${explain[@]}" "$text" --alternatives --beam 2 >output
grep -qE '^  1  \*[^ ]+ -[0-9.]+  [^ ]+ -[0-9.]+$' output || { fault 'alternatives'; cat output; }

# Every attention, a layer, a head, the largest of the heads.
"${explain[@]}" "$text" --json >all.json
cp all.json output
expect 'json' '{"format":"heed-trace","version":1,"model":"model","system":"transformer"' '"words":[{"text":"the","begin":0,"end":3}' \
  '"alignment":[[' '"log_probabilities":[-' '"name":"encoder.layer2.self","layer":2,"rows":"source","columns":"source"' \
  '"name":"decoder.layer2.source","layer":2,"rows":"target","columns":"source"'
[ "$(wc -l <output)" -eq 1 ] || fault 'json: not one line'
picks=('--attention decoder.layer1.source --head 1' '--layer 1 --head 1' '--attention decoder.source --layer 1 --head 1')
for pick in "${picks[@]}"; do
  number=$((number + 1))
  # shellcheck disable=SC2086
  "${explain[@]}" "$text" $pick --alignment soft >picked$number
done
cmp -s picked1 picked2 && cmp -s picked2 picked3 || fault 'the same head, picked otherwise, is another'
"${explain[@]}" "$text" --layer 1 --head 2 --alignment soft >output
! cmp -s output picked1 || fault 'two heads are one'
"${explain[@]}" "$text" --head max --alignment hard >output
grep -qE '^der rote baum steht \|\|\| [0-3]-0 [0-3]-1 [0-3]-2 [0-3]-3$' output || { fault 'hard alignment'; cat output; }
"${explain[@]}" "$text" --alignment soft --rescale >output
sed 's/.*||| //' output | tr ' ' '\n' | awk -F, '{ s = 0; for (i = 1; i <= NF; ++i) s += $i; if (s < 0.999 || s > 1.001) exit 1 }' ||
  { fault 'rescale: rows do not sum to 1'; cat output; }

# Drawings and numbers.
"${explain[@]}" "$text" --svg matrix.svg --trust >output
expect 'trust' 'gradient agreement ' 'comprehensiveness '
"${explain[@]}" "$text" --svg lines.svg --lines --attention decoder.layer1.source >/dev/null
for file in matrix lines; do
  grep -q '<svg' $file.svg && grep -q 'stands' $file.svg || fault "$file.svg is no drawing of the sentence"
done
! cmp -s matrix.svg lines.svg || fault 'lines are a matrix'
# '-' is the standard output, which takes one picture alone.
"${explain[@]}" "$text" --svg - | cmp -s - matrix.svg || fault 'svg -: not the drawing alone'
"${explain[@]}" "$text" --png matrix.png >/dev/null
"${explain[@]}" "$text" --png - | cmp -s - matrix.png || fault 'png -: not the picture alone'
head -c 8 matrix.png | cmp -s - <(printf '\x89PNG\r\n\x1a\n') || fault 'matrix.png is no PNG'
"${explain[@]}" "$text" --html - >output
expect 'html -' '<!doctype html>' '"heed-trace"'
"${explain[@]}" "$text" --json - | cmp -s - all.json || fault 'json -: not the trace'
echo "$text" | "${explain[@]}" - --json | cmp -s - all.json || fault 'explain -: not the standard input'
[ ! -e - ] || fault 'there is a file called -'
fails 1 'standard output: it can take one of' explain model "$text" --svg - --png -
fails 1 'standard output: it can take one of' explain model "$text" --svg - --json
fails 1 'are of one text' explain model --input train.en --svg x.svg
fails 1 '--lines goes with' explain model "$text" --lines

# Files of sentences, with given translations and right alignments.
head -3 train.en >some.en
head -3 train.de >some.de
printf '0-0 1-1 2-2 3-3\n%.0s' 1 2 3 >gold
"${explain[@]}" --input some.en --targets some.de --json >output
[ "$(wc -l <output)" -eq 3 ] || fault 'json of a file: not a line for each'
"${explain[@]}" --input some.en --targets some.de --gold gold >output
[ "$(grep -cE '^decoder.layer[12].source head [12] alignment error 0.[0-9]{4}$' output)" -eq 4 ] ||
  { fault 'gold: not four heads'; cat output; }
sort -c -k6 -g output || fault 'gold: the heads are not in order'
best=$(head -1 output)
read -r attention _ head _ <<<"$best"
"${explain[@]}" --input some.en --targets some.de --gold gold --head best --alignment soft >best
"${explain[@]}" --input some.en --targets some.de --attention "$attention" --head "$head" --alignment soft | cmp -s - best ||
  fault 'gold: best is not the first of the list'

# What was written is viewed again without the model; so are the alignments of others.
"${explain[@]}" --input some.en --targets some.de --json >traces.jsonl
"${explain[@]}" --input some.en --targets some.de --alignment soft >direct
"$heed" view traces.jsonl --alignment soft >again
near direct again 3e-5 || { fault 'view: another alignment'; diff direct again || true; }
"$heed" view traces.jsonl -n 3 >output
expect 'view one' "$(sed -n 3p some.de)"
"$heed" view gold --format pharaoh --source some.en --target some.de --png one.png --html all.html >output
[ ! -s output ] || fault 'view: pictures alone write nothing else'
head -c 8 one.png | cmp -s - <(printf '\x89PNG\r\n\x1a\n') || fault 'view: one.png is no PNG'
[ "$(grep -o '"heed-trace"' all.html | wc -l)" -ge 3 ] || fault 'view: the page has not three traces'
"$heed" view all.json --svg viewed.svg
"$heed" view all.json --svg - | cmp -s - viewed.svg || fault 'view --svg -: not the drawing'
"$heed" view all.json --json - | cmp -s - all.json || fault 'view --json -: not the trace'
"$heed" view - --json <all.json | cmp -s - all.json || fault 'view -: not the standard input'
[ ! -e - ] || fault 'view: there is a file called -'
fails 1 'give one file, not 2' view all.json all.json
fails 1 'did you mean pharaoh?' view gold --format pharoah
fails 1 '--number: 4 is outside 1..3' view traces.jsonl -n 4
fails 1 'gold, line 1: ' view gold
fails 1 'they go with --format' view traces.jsonl --source some.en
"$heed" view --help >output
expect 'view --help' 'marian' 'Examples'

# Anything may stand in a text; nothing of it reaches the terminal.
printf '\e[31mred\e[0m\t<b>猫</b> 👩‍👧 \u202eabc\n\n' >odd
"${explain[@]}" --input odd >output
if grep -q $'\e' output; then fault 'a text reaches the terminal unchecked'; fi

fails 1 'did you mean decoder.layer1.source?' explain model "$text" --attention decoder.layer1.sorce
fails 1 'there is no head 9 of decoder.layer1.source, which has 2' explain model "$text" --layer 1 --head 9
fails 1 'there is no layer 3 of decoder.source, which has 2' explain model "$text" --layer 3
fails 1 'did you mean word?' explain model "$text" --level words
fails 1 'did you mean drop?' explain model "$text" --end drp
fails 1 'did you mean none?' explain model "$text" --color non
fails 1 'give either a text or --input' explain model
fails 1 'give either a text or --input' explain model "$text" --input some.en
fails 1 '--targets goes with --input' explain model "$text" --targets some.de
fails 1 '--head best needs --gold' explain model "$text" --head best
fails 1 'gold: it has 3 lines, but there are 60 sentences' explain model --input train.en --targets train.de --gold gold
fails 1 'some.de: it has 3 lines, but train.en has 60' explain model --input train.en --targets some.de
fails 1 'the text is not valid UTF-8 at byte 1' explain model $'a\xff'
fails 1 'are allowed' explain model "$text" --longest 2
fails 1 'there is no such model folder' explain none "$text"
fails 2 'did you mean --alternatives?' explain model "$text" --alternative
"$heed" explain --help >output
expect 'explain --help' 'Example'
[ $faults -eq 0 ]
