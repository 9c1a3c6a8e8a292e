#!/usr/bin/env bash
# heed serve: what it prints, that it answers, how it ends, and what it refuses to begin. The server itself is tested in
# tests/serve.
#   serve_test.sh <the heed command>
# shellcheck source=tests/cli/testing.sh
source "$(dirname "$0")/testing.sh"

for i in 1 2 3 4 5 6; do
  echo "the old dog sleeps $i" >>train.en
  echo "der alte hund schlaeft $i" >>train.de
done
"$heed" train --source train.en --target train.de --vocabulary words --width 16 --feed-forward 16 --heads 2 --layers 1 \
  --decoder-layers 1 --steps 2 --validate-every 0 --output model 2>/dev/null

# Asks with bash alone: method and path, then the body.
ask() {
  local body=${2:-}
  exec 3<>"/dev/tcp/127.0.0.1/$port"
  printf '%s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s' "$1" ${#body} "$body" >&3
  cat <&3 >output
  exec 3<&-
}
serve() {  # in the background; its port in $port, what it says in said and log
  : >said  # an older server's words are not this one's
  "$heed" serve "$@" --port 0 >>said 2>log &
  server=$!
  until grep -q '^Serving at ' said; do
    kill -0 $server 2>/dev/null || { fault "serve $*: it does not begin"; cat log; return; }
    sleep 0.02
  done
  port=$(sed -n 's|^Serving at http://127\.0\.0\.1:\([0-9]*\)/.*|\1|p' said)
}
ends() {  # with code 0, after the signal $1
  local code=0
  kill "-$1" $server
  wait $server || code=$?
  [ $code -eq 0 ] || fault "SIG$1: exit code $code, not 0"
  grep -q 'All requests are answered' said || fault "SIG$1: it does not say that it has ended"
}

serve en-de=model model named=model --languages - --languages cs-da --set alignment-reads=true
ask 'GET /v2/health/ready'
expect 'ready' 'HTTP/1.1 200 OK' '{"ready":true}'
ask 'GET /models'
expect 'models' '"name":"en-de"' '"name":"model"' '"system":"transformer"'
ask 'GET /languages'
expect 'languages' '"code":"en"' '"targets":["de"]' '"code":"cs"' '"targets":["da"]'
ask 'POST /translate' '{"q": "the old dog", "target": "xx"}'
expect 'unknown language' 'HTTP/1.1 400 Bad Request' 'xx is not supported'
ask 'POST /translate' '{"q": "the old dog"}'
expect 'translate' 'HTTP/1.1 200 OK' '{"translatedText":"'
ask 'POST /explain' '{"text": "the old dog"}'
expect 'explain' '"format":"heed-trace"' '"model":"en-de"'
ask 'POST /translate' '{"q": '
expect 'malformed' 'HTTP/1.1 400 Bad Request' '"error":"the body: it is not valid JSON'
ends TERM
cp log output
expect 'log' ' 127.0.0.1 GET /v2/health/ready 200 ' ' 127.0.0.1 POST /translate 400 ' 'signal 15'

# Of two models the weights of one are written again.
cp -r model same
cp model/model.safetensors newer
serve model same
mv newer model/model.safetensors
kill -HUP $server
until grep -q 'same: its folder has not changed' log; do
  kill -0 $server 2>/dev/null || { fault 'SIGHUP: it has ended'; break; }
  sleep 0.02
done
ask 'POST /translate' '{"q": "the old dog"}'
expect 'after SIGHUP' 'HTTP/1.1 200 OK'
ends TERM
cp log output
expect 'SIGHUP' 'signal 1: looking for models that have changed' 'model: loaded again from model'

HEED_TOKEN=secret serve model --host 0.0.0.0 --quiet
port=$(sed -n 's|^Serving at http://0\.0\.0\.0:\([0-9]*\)/.*|\1|p' said)
ask 'GET /models'
expect 'token' 'HTTP/1.1 401 Unauthorized' 'WWW-Authenticate: Bearer'
ends INT
[ ! -s log ] || { fault 'quiet: it is not'; cat log; }

fails 1 'there is no such model folder' serve none --port 0
fails 1 'can be reached from other machines' serve model --host 0.0.0.0 --port 0
fails 1 'is no address' serve model --host here --port 0
fails 1 'two models have the name model' serve model other/../model --port 0
fails 1 'NAME=FOLDER' serve '=model' --port 0
fails 1 '--languages: english is not of the form en-de' serve model --languages english --port 0
fails 1 '--languages: it was given 2 times for 1 models' serve model --languages en-de --languages en-fr --port 0
fails 1 '--max-queue: it must be at least 1' serve model --max-queue 0
fails 1 '--timeout: it must be from 0.001' serve model --timeout 0
fails 1 '--port: 70000' serve model --port 70000
fails 2 'did you mean --port?' serve model --prot 1
: >empty
fails 1 'there is no token in it' serve model --token-file empty
cp -r model damaged
head -c 1000 model/model.safetensors >damaged/model.safetensors
fails 1 'damaged/model.safetensors: ' serve model damaged --port 0
"$heed" serve --help >output
expect 'serve --help' 'Examples:' '--max-body' '--max-text' '--max-queue' '--timeout' '--threads' '--batch-sentences' '--languages' 'curl' '/summarise'
[ $faults -eq 0 ]
