#!/bin/busybox sh
# The first process of the virtual machine: counts each program under `anyperf run --deterministic` with the CPU of a level.
# Lines that begin with "count" are the results; counts.py reads them from the serial console.
/bin/busybox mkdir -p /proc /sys /dev /tmp
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sysfs /sys
/bin/busybox mount -t devtmpfs dev /dev
/bin/busybox mkdir -p /dev/shm
/bin/busybox mount -t tmpfs shm /dev/shm
/bin/busybox mount -t tmpfs tmp /tmp
export PATH=/bin:/usr/bin HOME=/tmp LC_ALL=C
echo
cd /tmp || exit 1
count() {
    name=$1
    shift
    anyperf run --deterministic --cpus 2 --cpu-model "$level" --count=instructions,branches,loads,stores --count-to /tmp/counts -- "$@" \
        >/tmp/out 2>&1 </dev/null
    status=$?
    digest=$(/bin/busybox md5sum </tmp/out | /bin/busybox cut -c1-12)
    counts=$(/bin/busybox grep -E '"(instructions|branches|loads|stores)":' /tmp/counts | /bin/busybox sed 's/.*: //' | /bin/busybox tr -d ',\n')
    echo "count $level $name status $status output $digest counts $(echo "$counts" | /bin/busybox md5sum | /bin/busybox cut -c1-12)"
}
for level in x86-64-v2 x86-64-v3; do
    count threads /counts/threads
    count static /counts/static
    count perl /usr/bin/perl -e 'my %h; $h{"k$_"} = $_ for 1 .. 20000; print join(",", map { $h{$_} } (keys %h)[0 .. 9]), rand(), "\n"'
    count sort /usr/bin/sort -n /counts/lines
    count bash /usr/bin/bash -c 'for i in 1 2 3 4 5; do x=$(echo $i | /bin/busybox cat); y="$y$x"; done; for ((j = 0; j < 1000; ++j)); do z=${y//3/$j}; done; echo $z'
    count luajit /usr/bin/luajit -joff -e 'local t = {} for i = 1, 20000 do t[#t + 1] = tostring(i * 7 % 1009) end table.sort(t) print(#table.concat(t))'
done
echo "count end"
/bin/busybox poweroff -f
