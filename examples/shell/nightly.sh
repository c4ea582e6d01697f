#!/bin/sh
# Three nodes begin the same job at the same time, and one of them runs it. Needs a server at REDLATCH_URL, and `redlatch` in PATH.
#
# The job is short, so the lock is kept for a while: a node whose clock is late finds it taken.
set -eu

for node in 1 2 3; do
    redlatch run -n -E 0 --at-least 2s example:nightly-shell \
        sh -c "echo \"node $node runs the job under token \$REDLATCH_TOKEN\"" &
done
wait

# A later command waits for the lock, with an end.
redlatch run -w 10s example:nightly-shell echo 'the next job begins'
