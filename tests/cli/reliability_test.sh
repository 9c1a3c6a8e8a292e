#!/usr/bin/env bash
# What happens when files are damaged, hostile, changed or unusual: folders, data, traces.
#   reliability_test.sh <the heed command>
# shellcheck source=tests/cli/testing.sh
source "$(dirname "$0")/testing.sh"

sixty_sentences train
size=(--vocabulary words --norm post --width 32 --feed-forward 64 --heads 2 --layers 1 --decoder-layers 1 --dropout 0)
rate=(--warm-up 20 --learning-rate 0.01 --batch-words 64 --show-every 3 --shards 1 --threads 1 --seed 3)
small=("${size[@]}" "${rate[@]}")
pair=(--source train.en --target train.de)
"$heed" train "${pair[@]}" "${small[@]}" --steps 12 --save-every 4 --output model 2>/dev/null

# A folder knows its files.
"$heed" info model --verify >output
expect 'verify' 'model.safetensors                  intact' 'checkpoint/training.safetensors    intact' \
  'train.jsonl                        without a digest'
cp -r model damaged
size_of_weights=$(stat -c %s model/model.safetensors)
printf '\x7f' | dd of=damaged/model.safetensors bs=1 seek=$((size_of_weights - 2)) conv=notrunc 2>/dev/null
fails 1 'model.safetensors                  it is not what was written' info damaged --verify
fails 1 'damaged/model.safetensors: it is not what was written' translate damaged --verify 'the old dog'
cp model/model.safetensors damaged/
cp model/target.vocab.txt damaged/source.vocab.txt
fails 1 'damaged/source.vocab.txt: it is not what was written' translate damaged 'the old dog'
rm -r damaged
cp -r model damaged
printf '\x7f' | dd of=damaged/checkpoint/training.safetensors bs=1 seek=5000 conv=notrunc 2>/dev/null
fails 1 'training.safetensors: it is not what was written' train --resume --output damaged --steps 16
rm damaged/digests.json
"$heed" translate damaged 'the old dog' >/dev/null

# A small file that is nested deep is an error wherever it is read.
brackets=$(printf '[%.0s' $(seq 40000))
printf '{"version": 1, "model": "transformer", "config": {"width": %s}}' "$brackets" >damaged/config.json
for command in 'info damaged' 'translate damaged hello' 'serve damaged --port 0' 'train --resume --output damaged'; do
  # shellcheck disable=SC2086
  fails 1 'damaged/config.json: it is nested deeper than 16 levels' $command
done
printf '{"width": %s}' "$brackets" >deep.json
fails 1 'deep.json: it is nested deeper than 16 levels' train --config deep.json
rm -r damaged
cp -r model damaged
rm damaged/digests.json
sed 's/"peak-bytes":[0-9]*/"peak-bytes":"many"/' model/training.json >damaged/training.json
fails 1 'damaged/training.json: the field peak-bytes must be a whole number, not string' \
  train --resume --output damaged --steps 16

# A training goes on with what it began with, or says what is different.
cp -r model changed
cp train.en kept.en
"$heed" train --resume --output changed --steps 14 2>/dev/null
mv train.en moved.en
"$heed" train --resume --output changed --source moved.en --steps 16 2>/dev/null
mv moved.en train.en
tac kept.en >train.en
fails 1 'train.en (--source): it is as long as it was, but something else stands in it; --accept-changed-data' \
  train --resume --output changed --source train.en --steps 18
echo 'the red cat falls' >>train.en
fails 1 'train.en (--source): it has' train --resume --output changed --source train.en --steps 18
cp kept.en train.en
echo 'x' >>train.de
fails 1 'train.de (--target): it has' train --resume --output changed --source train.en --steps 18
fails 1 'the file beside it has fewer lines' train --resume --output changed --source train.en --accept-changed-data
"$heed" train --resume --output changed --source train.en --accept-changed-data --allow-bad-lines --steps 18 2>output
expect 'accepted' 'going on with changed data: train.de (--target)' 'done after 18 steps'
"$heed" train --resume --output changed --source train.en --steps 20 2>output
expect 'known from then on' 'done after 20 steps'
fails 1 '--accept-changed-data goes with --resume' train "${pair[@]}" --accept-changed-data --output other
sed -i '$d' train.de

# Files that are not what they should be are errors.
fails 1 'the file beside it has fewer lines' train --source train.en --target <(head -50 train.de) "${small[@]}" --steps 2 --output odd
iconv -f UTF-8 -t UTF-16 train.en >utf16.en
fails 1 'lines are not UTF-8 or have a zero byte in them, as UTF-16 has' train --source utf16.en --target train.de "${small[@]}" --steps 2 --output odd
paste train.en train.de >pairs.tsv
sed '1~10s/\t/ /' pairs.tsv >bad.tsv
fails 1 '6 of 60 samples cannot be used' train --data bad.tsv "${small[@]}" --steps 2 --output odd
"$heed" train --data bad.tsv --allow-bad-lines "${small[@]}" --steps 2 --output odd 2>output
expect 'bad lines' '60 samples, 54 used'

# Pipes and the standard input are read as often as they are needed.
"$heed" train --source <(cat train.en) --target <(cat train.de) "${small[@]}" --steps 12 --save-every 4 --output piped 2>/dev/null
cmp -s piped/model.safetensors model/model.safetensors || fault 'pipes give another model than files'
"$heed" train --data - "${small[@]}" --steps 12 --output typed <pairs.tsv 2>/dev/null
cmp -s typed/model.safetensors model/model.safetensors || fault 'the standard input gives another model than files'
"$heed" train --resume --output typed --steps 14 <pairs.tsv 2>output
expect 'resumed' 'done after 14 steps'
fails 1 '- (--data): it has' train --resume --output typed --steps 16 < <(head -30 pairs.tsv)
fails 1 'standard input: it can be only one of the files' train --data - --valid - "${small[@]}" --steps 2 --output both <pairs.tsv
mkfifo pipe
cat pairs.tsv >pipe &
"$heed" score --model model --data pipe --format tsv --summary >output
expect 'a named pipe' '60 samples'

# What explain writes view reads, however long; what is too large to be drawn is refused before it takes memory.
words=$(for i in $(seq 220); do printf 'the old dog '; done)
"$heed" explain model "$words" --target "$words" --json --threads 1 >long.json
[ "$(stat -c %s long.json)" -gt 16777216 ] || fault "the trace has only $(stat -c %s long.json) bytes"
"$heed" view long.json --alignment hard >output
expect 'a long trace' '||| '
(
  # AddressSanitizer reserves far more than there is.
  grep -q __asan_init "$heed" || ulimit -v 3000000
  faults=0
  fails 1 'cannot be drawn' view long.json --png long.png --level token
  [ "$faults" -eq 0 ]
) || fault 'a large picture'
[ $faults -eq 0 ]
