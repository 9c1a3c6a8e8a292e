#!/bin/sh
# What mpirun calls in place of ssh: `enter_namespace.sh ADDRESS COMMAND...` runs the command on the second of the machines
# that slow_network.py makes.
shift
exec ip netns exec heed-bench-1 unshare --uts sh -c 'hostname heed-bench-1 && eval "$*"' sh "$@"
