#!/usr/bin/env bash
# Captions from the first drawn scene to the picture of where a model looked: formats, archives, and what is refused.
#   caption_test.sh <the heed command>
# shellcheck source=tests/cli/testing.sh
source "$(dirname "$0")/testing.sh"

"$heed" corpus scenes scenes --scenes 40 --valid 0.1 --test 0.1 >output
expect 'corpus' '32 scenes for training, 4 for validation, 4 for the test' 'test.boxes.jsonl'
fails 1 'it is there already' corpus scenes scenes --scenes 40

small=(--model show-attend-tell --encoder small --picture 32 --encoder-layers stage1 --embedding 8 --hidden 8 --score-width 8
  --dropout 0 --batch-sentences 8 --steps 4 --validate-every 4u --threads 1)
# Images in a packed tar; one that is broken and one that is missing are counted with their names.
mkdir apart
cp scenes/train.tsv apart/train.tsv
printf 'images/broken.png\tnothing\nimages/missing.png\tnothing\n' >>apart/train.tsv
head -c 200 "$(ls scenes/images/*.png | head -1)" >scenes/images/broken.png
tar -C scenes -cf - images | gzip >apart/images.tar.gz
rm scenes/images/broken.png
cp scenes/valid.tsv apart/valid.tsv
printf 'images/broken.png\tnothing\n' >>apart/valid.tsv
files=(--data apart/train.tsv --valid apart/valid.tsv --images apart/images.tar.gz,scenes)
fails 1 'images/missing.png' train "${small[@]}" "${files[@]}" --output model
"$heed" train "${small[@]}" "${files[@]}" --allow-bad-lines --output model >output 2>&1
expect 'train' 'images/broken.png' "apart/train.tsv:$(wc -l <apart/train.tsv) (images/missing.png" 'bleu4'

image=$(cut -f 1 scenes/test.tsv | head -1)
"$heed" caption model "scenes/$image" >output 2>/dev/null
[ "$(wc -l <output)" -eq 1 ] || fault 'caption: not one line'
"$heed" caption model scenes/images >output 2>/dev/null
[ "$(wc -l <output)" -eq 40 ] && expect 'a folder' $'scenes/images/000001.png\t' || fault 'caption: not a line per image'
printf '%s\n' "$image" >scenes/list.txt
"$heed" caption model scenes/list.txt apart/images.tar.gz/images/000002.png --n-best 2 --json >output 2>/dev/null
expect 'a list and an archive' "\"image\":\"scenes/$image\"" 'apart/images.tar.gz/images/000002.png' '"n_best":['

"$heed" evaluate --model model --data scenes/test.tsv --gold scenes/test.boxes.jsonl --results results.json >output 2>/dev/null
expect 'evaluate' 'BLEU-4' 'CIDEr-D' 'ROUGE-L' 'gold share' 'if uniform' 'pointing' 'of uniform' 'movement' 'In 95 %'
grep -q '^\[{"image_id":[0-9]*,"caption":"' results.json || fault 'evaluate: no results as COCO has them'

"$heed" explain model "scenes/$image" --target 'a small red circle' --svg looked.svg >output 2>/dev/null || fault 'explain: it fails'
grep -q 'feGaussianBlur' looked.svg || fault 'explain: no picture of the regions'

echo 'no image' >text.jpg
fails 1 'text.jpg' caption model text.jpg
fails 1 'nowhere.jpg' caption model nowhere.jpg
fails 1 'there is no image in it' caption model apart
echo '{"images": [{"split": "test"}]}' >splits.json
fails 1 'say which of its splits' evaluate --model model --format karpathy --data splits.json
# An encoder that is trained sees the whole picture: no region can be left out.
fails 1 'an encoder that is trained sees 64 regions' explain model "scenes/$image" --target 'a small red circle' --trust
[ $faults -eq 0 ]
