#!/usr/bin/env bash
# Hands @{job} to a running Ray cluster,
# once a night: the job's id has the date, and Ray refuses an id that it knows.
# Works @{until}.
#
# All nodes see the folders of the job under these paths, and have pocket-batch installed.
# `ray job stop ID` gives 3 s, which are enough: all work is on disk, and the next run goes on.
# A cluster with tokens wants RAY_AUTH_MODE=token and RAY_AUTH_TOKEN here too.
#
# usage: @{file} [AGAIN]     AGAIN is a word for one more run in the same night
set -euo pipefail

export RAY_API_SERVER_ADDRESS="${RAY_API_SERVER_ADDRESS:-http://127.0.0.1:8265}"
id="@{name}-$(date +%F)${1:+-$1}"

if state=$(ray job status "$id" 2>/dev/null); then
  printf '%s\nIt was handed over before. For one more run: %s AGAIN\n' "$state" "$0"
  exit 0
fi

# The shell of the head node runs this. 75: stopped at its deadline, and the next night goes on.
command=$(
  cat <<'COMMAND'
@{command} || [ $? -eq 75 ]
COMMAND
)

# Ray joins words with the quotes of another system, so the command travels as base64.
encoded=$(printf '%s' "$command" | base64 | tr -d '\n')
run="import base64, os; os.execvp('sh', ['sh', '-c', base64.b64decode('$encoded').decode()])"
exec ray job submit --no-wait --submission-id "$id" -- python3 -c "$run"
