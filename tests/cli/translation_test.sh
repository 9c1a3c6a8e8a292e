#!/usr/bin/env bash
# heed train, translate, score, info and models on a corpus of sixty sentences: what they make, how runs go on after they
# were stopped or killed, and how they fail.
#   translation_test.sh <the heed command>
# shellcheck source=tests/cli/testing.sh
source "$(dirname "$0")/testing.sh"

sixty_sentences train
head -8 train.en >valid.en
head -8 train.de >valid.de
data=(--source train.en --target train.de --valid-source valid.en --valid-target valid.de)
size=(--vocabulary words --norm post --width 32 --feed-forward 64 --heads 2 --layers 1 --decoder-layers 1 --dropout 0.1)
rate=(--warm-up 40 --learning-rate 0.01 --batch-words 64 --show-every 3 --shards 2 --seed 3)
small=("${data[@]}" "${size[@]}" "${rate[@]}")

# A model that has learnt its corpus by heart.
"$heed" train "${small[@]}" --epochs 40 --metrics cross-entropy,bleu --output model 2>output
expect 'train' '60 samples, 60 used' 'bleu 100' 'the model is in model'
for file in config.json model.safetensors source.vocab.txt target.vocab.txt training.json train.jsonl curve.svg; do
  [ -s model/$file ] || fault "train: $file is missing"
done
"$heed" translate -m model -i train.en -o translated 2>/dev/null
cmp -s translated train.de || { fault 'translate: the training sentences come out otherwise'; diff translated train.de || true; }

# Measured by the command itself: what it translates, how sure it is of the references, how fast, where it looked.
for line in $(seq 60); do echo '0-0 1-1 2-2 3-3'; done >gold
"$heed" evaluate --model model --source train.en --reference train.de --gold gold --name mine >output
expect 'evaluate a model' 'mine    100.00' 'perplexity' 'sentences/s' 'mine       0.'
awk '$1 == "mine" && NF == 4 && $2 >= 1 && $2 < 3 && $3 > 0 { found = 1 } END { exit !found }' output ||
  { fault 'evaluate a model: perplexity or speed'; cat output; }
fails 1 '--model needs --source' evaluate --model model --reference train.de

# One line for one line, in order, whatever stands in it.
printf 'the old dog sleeps\n\n\xff\xfe\nthe big car falls\nthe the the the the the the the\n' >odd
"$heed" translate -m model -i odd --longest 6 >lines 2>output
expect 'odd lines' 'line 3 is not valid UTF-8' 'line 5 has 8 pieces and is cut to 6'
[ "$(wc -l <lines)" -eq 5 ] || fault 'translate: not a line for each line'
[ "$(sed -n 1p lines)|$(sed -n 2,3p lines | tr -d '\n')|$(sed -n 4p lines)" = 'der alte hund schlaeft||der grosse wagen faellt' ] ||
  { fault 'translate: lines are out of order'; cat lines; }

# Every way to search; a forced prefix; alignments; an ensemble of a model with itself is the model.
echo 'the red tree stands' >one
for search in greedy beam sample; do
  "$heed" translate -m model -i one --search $search --top-k 1 2>/dev/null >output
  expect "$search" 'der rote baum steht'
done
"$heed" translate -m model -m model -i one --n-best 3 2>/dev/null >output
expect 'ensemble' '0 ||| der rote baum steht ||| '
[ "$(wc -l <output)" -eq 3 ] || fault 'n-best: not three lines'
printf 'the red tree stands\tder alte\n' >forced
"$heed" translate -m model -i forced --prefix 2>/dev/null >output
expect 'prefix' 'der alte '
"$heed" translate -m model -i one --alignment hard 2>/dev/null >output
grep -qE '^der rote baum steht \|\|\| [0-3]-0 [0-3]-1 [0-3]-2 [0-3]-3$' output || { fault 'hard alignment'; cat output; }
"$heed" translate -m model -i one --alignment soft 2>/dev/null >output
grep -qE '\|\|\| ([0-9.e-]+,){3}[0-9.e-]+ ' output || { fault 'soft alignment'; cat output; }
"$heed" translate -m model -i one --draw 2>/dev/null >output
expect 'draw' 'steht ' 'rote '

# In eight bits it is a quarter of the size and says the same, from its folder or rounded when it is loaded.
"$heed" quantise model --output model-int8 >output
expect 'quantise' 'model-int8: 0.0 MB of weights'
"$heed" translate model-int8 train.en 2>/dev/null >translated
cmp -s translated train.de || { fault 'quantise: the training sentences come out otherwise'; diff translated train.de || true; }
"$heed" translate model train.en --int8 2>/dev/null | cmp -s - translated || fault '--int8: not what the quantised model says'
"$heed" score --model model-int8 --source one --target <(echo 'der rote baum steht') --summary >output
expect 'score in eight bits' '1 samples, 5 pieces'
"$heed" info model-int8 >output
expect 'info of a quantised model' 'trained, of products in eight bits'
"$heed" info model-int8 --verify >output 2>&1 || { fault 'info --verify of a quantised model'; cat output; }
fails 1 'eight bits already' quantise model-int8 --output again
fails 1 'model-int8' quantise model --output model-int8
"$heed" quantise model --output model-int8 --force >/dev/null || fault 'quantise --force'
python3 - model/model.safetensors broken.safetensors <<'PYTHON'
import struct, sys

data = bytearray(open(sys.argv[1], "rb").read())
data[-4:] = struct.pack("<f", float("nan"))
open(sys.argv[2], "wb").write(data)
PYTHON
cp -r model broken
mv broken.safetensors broken/model.safetensors
rm broken/digests.json
fails 1 'a number that is not finite' quantise broken --output never
[ ! -e never ] && [ ! -e again ] || fault 'quantise: something was written though it failed'

# A shortlist of its own vocabularies leaves what it translates as it is; one of others is refused.
"$heed" shortlist train.en train.de --model model --first 5 --output listed >/dev/null 2>&1
for way in '' '--batch 1' --int8; do
  # shellcheck disable=SC2086
  "$heed" translate model train.en --shortlist listed --shortlist-first 5 $way 2>/dev/null | cmp -s - train.de ||
    fault "--shortlist $way: the training sentences come out otherwise"
done
printf 'chat cat 0.5\n' >other
fails 1 'other:' translate model one --shortlist other
fails 1 'nowhere' translate model one --shortlist nowhere

# What a translation scores is what searching said of it.
"$heed" translate -m model -i one --scores 2>/dev/null | sed 's/.*steht ||| \(-[0-9.]*\) .*/\1/' >searched
echo 'der rote baum steht' >one.de
"$heed" score -m model -s one -t one.de 2>output | cut -f1 >scored
expect 'score' '1 samples, 5 pieces, log-probability'
awk 'NR == FNR { a = $1; next } { d = a - $1; if (a == "" || d > 1e-3 || d < -1e-3) exit 1 }' searched scored ||
  fault "score: $(cat scored), searching said $(cat searched)"

# A run that is interrupted goes on exactly: the same log (without the clock) and the same weights.
losses() { grep '"loss"' "$1/train.jsonl" | sed 's/,"words_per_second.*//'; }
"$heed" train "${small[@]}" --steps 40 --validate-every 0 --output whole 2>/dev/null
"$heed" train "${small[@]}" --steps 17 --validate-every 0 --output parts 2>/dev/null
"$heed" train --resume --output parts --steps 40 2>output
expect 'resume' 'going on after step 17'
cmp -s <(losses whole) <(losses parts) || { fault 'resume: other losses'; diff <(losses whole) <(losses parts) || true; }
cmp -s whole/model.safetensors parts/model.safetensors || fault 'resume: other weights'

# Another number of threads changes nothing.
"$heed" train "${small[@]}" --steps 40 --validate-every 0 --threads 1 --output threads 2>/dev/null
cmp -s whole/model.safetensors threads/model.safetensors || fault 'threads: other weights with one thread'

# Killed at any moment, it goes on, and always translates.
often=("${small[@]}" --save-every 1 --validate-every 7u --patience 0)
run=(train "${often[@]}" --output killed)
for pause in 0.15 0.3 0.2 0.25; do
  "$heed" "${run[@]}" --steps 1000000 2>output &
  until [ -s killed/checkpoint/training.safetensors ]; do  # there is one to lose
    kill -0 $! 2>/dev/null || break
    sleep 0.02
  done
  sleep $pause
  kill -9 $! 2>/dev/null || true
  code=0
  wait $! 2>/dev/null || code=$?
  [ $code -eq 137 ] || { fault "killed: it had ended with code $code"; cat output; }
  [ ! -e killed/model.safetensors ] || "$heed" translate -m killed -i one >/dev/null 2>output || { fault 'killed: no model'; cat output; }
  run=(train --resume --output killed)
done
touch killed/train.jsonl  # on a slow machine all of them were killed before the first line
made=$(cut -d, -f1 killed/train.jsonl | grep -o '[0-9]*' | sort -n | tail -1 || true)
made=${made:-0}
"$heed" "${run[@]}" --steps $((made + 10)) 2>output || { fault 'killed: it does not go on'; cat output; }
"$heed" train "${often[@]}" --steps $((made + 10)) --output unkilled 2>/dev/null
cmp -s <(losses killed) <(losses unkilled) || fault 'killed: other losses than without the kills'
cmp -s killed/model.safetensors unkilled/model.safetensors || fault 'killed: other weights than without the kills'
[ -z "$(find killed -name '*.partial')" ] || fault 'killed: half written files are left'

# A signal stops it with a checkpoint.
"$heed" train "${small[@]}" --steps 1000000 --validate-every 0 --output signalled 2>said &
until [ -s signalled/train.jsonl ]; do sleep 0.02; done
# Nobody else trains into a folder that is in use, not even by force.
fails 1 'it is in use by another training: process' train --resume --output signalled
fails 1 'it is in use by another training: process' train "${small[@]}" --epochs 1 --force --output signalled
kill -TERM $!
code=0
wait $! || code=$?
[ $code -eq 143 ] || fault "SIGTERM: exit code $code, not 143"
mv said output
expect 'SIGTERM' 'go on with: heed train --resume --output signalled'
[ -s signalled/checkpoint/training.safetensors ] && [ -s signalled/model.safetensors ] || fault 'SIGTERM: nothing saved'

# Options in files, Marian's names, and what was asked for in the end.
printf 'model: transformer\ntrain-sets:\n  - train.en\n  - train.de\nafter-epochs: 3   # passes\nwidth: 48\n' >my.yaml
"$heed" train --config my.yaml --learn-rate 0.5 --dump-config >output
expect 'dump-config' '"source": "train.en"' '"target": "train.de"' '"epochs": 3' '"width": 48' '"learning-rate": 0.5'
cp output all.json
"$heed" train --config all.json --dump-config | cmp -s - all.json || fault 'dump-config: it does not read what it wrote'

# What goes wrong is said, early, and costs nothing.
cp model/model.safetensors kept
fails 1 'there is a model already; --resume continues its training, --force replaces it' train "${small[@]}" --epochs 1 --output model
fails 1 '--source: there is no file none.en' train --source none.en --target train.de --epochs 1 --output x
fails 1 'belong together' train --source train.en --epochs 1 --output x
fails 1 'did you mean transformer?' train --model transfomer --source train.en --target train.de --output x
fails 2 'did you mean learning-rate?' train --lerning-rate 1 "${data[@]}" --output x
fails 2 'did you mean dropout?' train --dropuot 1 "${data[@]}" --output x
fails 1 'learning-rate must be a number' train --learning-rate much "${data[@]}" --output x
fails 1 'nothing ends this training' train --source train.en --target train.de --output x
fails 1 'contradict each other' train --resume --force --output model
fails 1 'there is no such model folder' train --resume --output none
fails 2 'did you mean --beam?' translate -m model --baem 3 -i one
fails 2 'did you mean translate?' translat
fails 1 'there is no such model folder' translate -m none -i one
fails 1 'is more than the beam of 2' translate -m model -i one --beam 2 --n-best 3
fails 1 'the file beside it has fewer lines; 59 of 60 have no partner' score -m model -s train.en -t one.de
[ ! -e x ] || fault 'a folder was made for a training that could not begin'
cmp -s kept model/model.safetensors || fault 'a model was overwritten'
cp -r model damaged
rm damaged/digests.json  # which would notice all that follows
head -c 1000 kept >damaged/model.safetensors
fails 1 'damaged/model.safetensors: ' translate -m damaged -i one
cp kept damaged/model.safetensors
sed -i 's/"version": 1/"version": 9/' damaged/config.json
fails 1 'its version is 9' translate -m damaged -i one
cp model/config.json damaged/config.json
echo extra >>damaged/target.vocab.txt
fails 1 'but the model was made for' translate -m damaged -i one
rm damaged/source.vocab.txt
fails 1 'its source vocabulary is missing' info damaged
"$heed" train "${data[@]}" "${size[@]}" --steps 9 --learning-rate 1e30 --clip-norm 0 --warm-up 1 --save-every 1 --validate-every 0 --output nan >output 2>&1 && fault 'nan: it went on'
expect 'nan' 'training stops and the last checkpoint stays'

"$heed" info model >output
expect 'info' 'transformer' 'parameters' 'source.vocab.txt' 'feed-forward'
"$heed" models >output
expect 'models' 'transformer' 'Vaswani'
"$heed" models transformer >output
expect 'models transformer' '--feed-forward' 'small' 'paper'
for command in train translate score info models; do
  "$heed" $command --help >output
  expect "$command --help" 'Example'
done
[ $faults -eq 0 ]
