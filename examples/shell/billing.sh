#!/bin/sh
# Three nodes stand for the same job, and one leads. When its command has ended, the next one leads. Needs a server at REDLATCH_URL, and
# `redlatch` in PATH.
set -eu

for node in 1 2 3; do
    redlatch elect --value "node $node" example:billing-shell \
        sh -c "echo \"node $node leads at token \$REDLATCH_TOKEN\"; sleep 0.1; echo \"node $node is done\"" &
done
wait
