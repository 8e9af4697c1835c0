# SPDX-License-Identifier: Apache-2.0
# Ctrl-C while the input does not come: exit code 130. (Shells start background commands with SIGINT ignored.)
mkfifo pipe
sleep 60 >pipe &
writer=$!
env --default-signal=INT "$BERTH" inspect pipe &
reader=$!
sleep 1
kill -INT $reader
code=0
wait $reader || code=$?
kill $writer
test $code = 130
