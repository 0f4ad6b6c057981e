#!/bin/busybox sh
# The first process of the virtual machine: runs each case natively and under `anyperf run`, compares, and turns the machine
# off. Lines that begin with "case" are the results; run.py reads them from the serial console.
/bin/busybox mkdir -p /proc /sys /dev /tmp /dev/shm
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sysfs /sys
/bin/busybox mount -t devtmpfs dev /dev
/bin/busybox mkdir -p /dev/shm /dev/pts
/bin/busybox mount -t tmpfs shm /dev/shm
/bin/busybox mount -t tmpfs tmp /tmp
export PATH=/bin:/usr/bin HOME=/tmp LC_ALL=C
ulimit -c 0
/bin/busybox ifconfig lo up 2>/dev/null
echo
cd /tmp || exit 1
/bin/busybox mkdir native run
while IFS='	' read -r name command; do
    (cd native && /bin/busybox timeout 120 /bin/busybox sh -c "$command" </dev/null) >/tmp/native.out 2>&1
    echo "status $?" >>/tmp/native.out
    # In the run sh itself is measured, so that it and all that it starts is.
    (cd run && /bin/busybox timeout 300 anyperf run -- /bin/busybox sh -c "$command" </dev/null) >/tmp/run.out 2>&1
    echo "status $?" >>/tmp/run.out
    if /bin/busybox cmp -s /tmp/native.out /tmp/run.out; then
        echo "case ok $name"
    else
        echo "case FAILED $name"
        /bin/busybox diff /tmp/native.out /tmp/run.out | /bin/busybox head -12 | /bin/busybox sed 's/^/    /'
    fi
done </cases
echo "case end"
/bin/busybox poweroff -f
