#!/usr/bin/env bash
# One training by several processes under mpirun: the same bits as one process, whatever happens to the processes.
#   mpi_test.sh <the heed command>
# shellcheck source=tests/cli/testing.sh
source "$(dirname "$0")/../cli/testing.sh"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
launcher=(mpirun --oversubscribe --bind-to none)  # more ranks than processors is what is tested
ranks() {
  local count=$1
  shift
  "${launcher[@]}" -n "$count" "$@"
}

sixty_sentences train
head -24 train.en >valid.en
head -24 train.de >valid.de
size=(--vocabulary words --width 32 --feed-forward 64 --heads 2 --layers 1 --decoder-layers 1)
rate=(--warm-up 20 --learning-rate 0.01 --batch-words 64 --show-every 5 --threads 1)
valid=(--valid-source valid.en --valid-target valid.de --metrics cross-entropy,bleu --validate-every 10)
uncut=(train --source train.en --target train.de "${size[@]}" "${rate[@]}" "${valid[@]}")
training=("${uncut[@]}" --shards 4 --seed 3)
# What a training is about, without its times: losses and scores.
told() { sed -E 's/"(words_per_second|seconds|waiting)":[^,}]*,?//g; s/,}/}/' "$1/train.jsonl"; }
same() {  # $1 says of what; $2 and $3 are folders
  cmp "$2/model.safetensors" "$3/model.safetensors" || fault "$1: other weights"
  [ "$(told "$2")" = "$(told "$3")" ] || { fault "$1: another log"; diff <(told "$2") <(told "$3") || true; }
}

# One process, two ranks, four; and one that reads the folder that the others wrote.
"$heed" "${training[@]}" --steps 40 --output one 2>/dev/null
for count in 2 4; do
  ranks $count "$heed" "${training[@]}" --steps 40 --output by$count >output 2>&1 || fault "$count ranks: exit $?"
  same "$count ranks" one by$count
done
expect 'four ranks' 'words/s on 4 ranks' '% waiting' 'done after 40 steps'
[ "$(grep -c 'done after' output)" -eq 1 ] || fault 'not only the first rank speaks'
grep -q '"waiting":' by4/train.jsonl || fault 'the log does not say how long ranks waited'
"$heed" translate by4 'the old dog sleeps' >output
"$heed" translate one 'the old dog sleeps' | cmp - output || fault 'the model of four ranks runs otherwise'
# A number of ranks that is no power of two.
"$heed" "${uncut[@]}" --shards 3 --steps 12 --output three-shards 2>/dev/null
ranks 3 "$heed" "${uncut[@]}" --shards 3 --steps 12 --output by3 2>/dev/null
same '3 ranks' three-shards by3

# A chooser, whose vectors are rows of a large table, and the default number of shards.
"$heed" corpus reviews reviews >/dev/null 2>&1
choosing=(train --model bag --data reviews/train.tsv --valid reviews/valid.tsv --steps 12 --validate-every 6 --seed 3)
"$heed" "${choosing[@]}" --shards 2 --threads 2 --output bag 2>/dev/null
ranks 2 "$heed" "${choosing[@]}" --threads 1 --output bag-by-2 2>/dev/null
same 'bag' bag bag-by-2

# Half the bytes: another result, and every rank has the same one, or the training would not end.
ranks 2 "$heed" "${training[@]}" --steps 12 --wire bf16 --output bf16 2>/dev/null
"$heed" "${training[@]}" --steps 12 --output full 2>/dev/null
cmp -s full/model.safetensors bf16/model.safetensors && fault '--wire bf16 changes nothing'

# A training goes on with another number of ranks.
ranks 4 "$heed" "${training[@]}" --steps 17 --output moved 2>/dev/null
ranks 2 "$heed" train --resume --output moved --steps 26 2>/dev/null
"$heed" train --resume --output moved --steps 40 2>/dev/null
cmp one/model.safetensors moved/model.safetensors || fault 'resumed with other ranks: other weights'

# SIGTERM to the launcher: a checkpoint is written. A batch as long as this takes seconds, more than a launcher waits.
awk 'BEGIN { for (i = 0; i < 8000; ++i) print "the small house stands the old dog sleeps the big tree falls" }' >long.en
cp long.en long.de
wait_for() {  # until the file $1 has $2
  for _ in $(seq 300); do
    grep -qs -- "$2" "$1" && return
    sleep 0.1
  done
  fault "'$2' never came into $1"
}
"${launcher[@]}" -n 2 "$heed" train --model rnnsearch --source long.en --target long.de --vocabulary words --steps 1000 \
  --batch-words 12000 --shards 2 --threads 1 --show-every 1 --save-every 0 --output stopped >stopped.log 2>&1 &
running=$!
wait_for stopped/train.jsonl '"step":1,'
sleep 0.3
kill -TERM $running
wait $running && fault 'a stopped training ends with 0'
for _ in $(seq 300); do  # its writer outlives the launcher
  [ -s stopped/checkpoint/training.safetensors ] && break
  sleep 0.1
done
[ -s stopped/checkpoint/training.safetensors ] || { fault 'no checkpoint after SIGTERM'; cat stopped.log; }
"$heed" info stopped --verify >/dev/null || fault 'the folder of a stopped training is not intact'

# The restart loop of docs/cluster.md, while ten ranks are killed. How many steps fit in between depends on the machine,
# and may be none.
unending=("${training[@]}" --patience 0 --save-every 5u)
(until [ -e enough ] || ranks 4 "$heed" "${unending[@]}" --steps 1000000 --output survivor; do
  ranks 4 "$heed" train --resume --output survivor && break
done) >loop.log 2>&1 &
loop=$!
ranks_of_survivor() {
  local each
  for each in $(pgrep -f -- 'train .*--output survivor'); do
    [ "$(cat "/proc/$each/comm" 2>/dev/null)" != heed ] || echo "$each"
  done
}
killed=0
for attempt in $(seq 90); do
  sleep $((RANDOM % 2)).$((RANDOM % 5 + 5))  # at the start of a rank, or when it has done some steps
  victim=$(ranks_of_survivor | shuf -n 1)
  [ -n "$victim" ] && kill -9 "$victim" && killed=$((killed + 1))
  [ $killed -ge 10 ] && break
done
[ $killed -ge 10 ] || fault "only $killed ranks were killed in $attempt attempts"
touch enough
while kill -0 $loop 2>/dev/null; do
  ranks_of_survivor | xargs -r kill -9 2>/dev/null || true
  sleep 0.1
done
last=$(grep -os '"step":[0-9]*' survivor/train.jsonl | tail -1 | cut -d: -f2 || true)
steps=$((${last:-0} + 40))
ranks 4 "$heed" "${unending[@]}" --steps $steps --output survivor >loop.log 2>&1 ||  # if it was killed before it began
  ranks 4 "$heed" train --resume --output survivor --steps $steps >loop.log 2>&1 ||
  { fault 'a killed training does not go on'; cat loop.log; }
"$heed" "${unending[@]}" --steps $steps --output undisturbed 2>/dev/null
same 'after ten kills' undisturbed survivor

# A rank that hangs ends the training, and is named.
ranks 4 "$heed" "${training[@]}" --steps 1000000 --rank-timeout 1 --output hung >hung.log 2>&1 &
running=$!
wait_for hung/train.jsonl '"step":20,'
for victim in $(pgrep -f -- '--output hung'); do
  grep -qz '^OMPI_COMM_WORLD_RANK=2$' "/proc/$victim/environ" 2>/dev/null && break
done
kill -STOP "$victim"
wait $running && fault 'a hung training ends with 0'
kill -9 "$victim" 2>/dev/null || true
cp hung.log output
expect 'a hung rank' 'heed: rank 2 of 4' 'gives no answer: waited 1 s; the training ends, and its last checkpoint stays'

# Faults are said once, by one rank, and leave nothing behind.
refuse() {  # $1 ranks, $2 part of the message; the rest is the command
  local count=$1 part=$2
  shift 2
  ranks "$count" "$@" >output 2>&1 && fault "$part: exit code 0"
  expect "$part" "$part"
  [ "$(grep -c '^heed: ' output)" -eq 1 ] || { fault "$part: not said once"; cat output; }
}
refuse 2 '3 shards do not fit 2 ranks: each takes 1, 2, 4 or another power of 2 of them, so --shards is 2, 4, 8' \
  "$heed" "${uncut[@]}" --shards 3 --output refused
refuse 4 '2 shards do not fit 4 ranks' "$heed" "${uncut[@]}" --shards 2 --output refused
refuse 2 'there is no option beem' "$heed" "${training[@]}" --beem 3 --output refused
refuse 2 'there is no file nowhere.en' "$heed" train --source nowhere.en --target train.de --output refused
refuse 2 'there is a model already' "$heed" "${training[@]}" --output one
refuse 2 '--wire' "$heed" "${training[@]}" --wire f8 --output refused
refuse 2 'of step 2 is' "$heed" train --source train.en --target train.de "${size[@]}" --optimiser sgd --clip-norm 0 \
  --schedule constant --learning-rate 1e30 --steps 20 --shards 2 --output diverged
expect 'a training that diverges' 'training stops and the last checkpoint stays'
ranks 2 "$heed" "${training[@]}" --seed 4 >output 2>&1 && fault 'two seeds: exit code 0'
[ "$(grep -c 'At Most 1 required' output)" -eq 1 ] || { fault 'a misused option is not said once'; cat output; }
# Ranks that are told, or see, something else. Each runs where a machine of its own would.
mkdir here there
cp train.?? valid.?? here
cp train.?? valid.?? there
cat >elsewhere.sh <<'SCRIPT'
#!/bin/sh
if [ "$OMPI_COMM_WORLD_RANK" = 1 ]; then cd there; more=$DIFFERENT; else cd here; fi
exec "$@" $more
SCRIPT
chmod +x elsewhere.sh
refuse 2 'rank 1 of 2' ./elsewhere.sh "$heed" "${training[@]}" --output refused
expect 'another folder' 'refused: this rank does not see the folder of the first rank there; all ranks need one file system'
sed -i 's/dog/cat/' there/train.en
refuse 2 'its files are not those of the first rank' ./elsewhere.sh "$heed" "${training[@]}" --output refused2
expect 'other files' 'rank 1 of 2' 'train.en'
DIFFERENT='--clip-norm 4' refuse 2 "its --clip-norm is '4', that of the first rank '1'" ./elsewhere.sh "$heed" "${training[@]}" \
  --output refused3
[ ! -e here/refused2 ] && [ ! -e here/refused3 ] || fault 'a refused training left a folder'
# Without libheed_mpi.
mkdir alone
cp "$heed" alone/heed
cp -P "$(dirname "$heed")"/libheed.so* alone/
refuse 2 'libheed_mpi, which connects them, cannot be loaded' alone/heed "${training[@]}" --output refused
expect 'without libheed_mpi' 'apt-get install libopenmpi-dev openmpi-bin'
alone/heed "${training[@]}" --steps 4 --output single 2>/dev/null || fault 'one process needs libheed_mpi'

[ $faults -eq 0 ]
