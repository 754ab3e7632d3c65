#!/bin/sh
# Runs the job, and hands signals on to it: what Kubernetes ends gets SIGTERM first.
child=
stop=
trap 'stop=1; [ -z "$child" ] || kill -TERM "$child" 2>/dev/null' INT TERM
@{command} &
child=$!
[ -z "$stop" ] || kill -TERM "$child" # the signal came while the job was being started
code=0
wait "$child" || code=$?
while kill -0 "$child" 2>/dev/null; do # a signal ended the wait, not the job
  code=0
  wait "$child" || code=$?
done
# 75: stopped at its deadline. The next night goes on.
if [ "$code" -eq 75 ]; then code=0; fi
exit "$code"
