#!/bin/sh
# Jobs through the files of an XCPU tree, with the shell alone:
# run ADDR xcpu.sh cache=none [ROOT [CHECK...]]
#
# ROOT is the directory that holds `clone`, beneath the mount (nodes/n0, say); none means the
# mount itself. One line a check: `ok NAME` or `FAIL NAME: reason`; exits 1 if any failed. With
# $TOP set to where a tree is mounted already (by `muster mount`) no guest is needed.
#
# What the shell makes v9fs ask for, and a server must answer: `echo x >ctl` opens with O_TRUNC
# and may set the length to 0 besides; `read` takes one byte a request, at growing offsets; `cat`
# of a pipe asks again after a short answer, until 0 bytes come; every file's length says 0.
root=${TOP:-/mnt/9p}/${1#/}
program=/bin/busybox
[ $# -eq 0 ] || shift
scratch=$(mktemp -d) || exit 1
failed=0

die() {
    echo "$*"
    exit 1
}
same() { # same WHAT GOT WANTED
    [ "$2" = "$3" ] || die "$1 is '$2', not '$3'"
}
# A session lives as long as something in it, or its clone, is open; here that is descriptor 3.
open_session() {
    exec 3<"$root/clone" || die "clone does not open"
    read -r id <&3 # the id has no newline, so the status of read tells nothing
    enter
}
# As a person would type it. The session stays for 30 s whenever nobody is in it.
plain_session() {
    id=$(cat "$root/clone") || die "clone cannot be read"
    enter
}
enter() {
    case $id in
        '' | *[!0-9]*) die "clone gave '$id', which is no session id" ;;
    esac
    session=$root/$id
    [ -d "$session" ] || die "there is no directory $id"
}
# Waits up to 5 s for what ends a little after the request that ends it.
gone() {
    tries=0
    while [ -d "$1" ]; do
        tries=$((tries + 1))
        [ $tries -lt 50 ] || die "${1##*/} is still there"
        sleep 0.1
    done
}
tell() { # tell COMMAND...: one line to ctl
    echo "$*" >"$session/ctl" || die "ctl refused '$*'"
}
upload() {
    cp $program "$session/fs/busybox" || die "the program did not go into fs/"
}
start() { # start ARGV: the words as the shell would quote them
    upload
    echo "$1" >"$session/argv" || die "argv was refused"
    tell exec busybox
}

t_clone() {
    open_session
    for file in ctl argv env stdin stdio stdout stderr wait id; do
        [ -f "$session/$file" ] || die "the session has no $file"
    done
    [ -d "$session/fs" ] || die "the session has no fs/"
}
t_by_hand() {
    plain_session
    sleep 1
    cp $program "$session/fs/" || die "the program did not go into fs/"
    echo 'busybox cat' >"$session/argv" || die "argv was refused"
    sleep 1
    echo exec >"$session/ctl" || die "ctl refused 'exec'"
    echo 'typed by hand' >"$session/stdin" || die "stdin refused the text"
    echo close stdin >"$session/ctl" || die "ctl refused 'close stdin'"
    same "stdout" "$(cat "$session/stdout")" 'typed by hand'
    same "wait" "$(cat "$session/wait")" 0
    same "stdout read again" "$(cat "$session/stdout")" 'typed by hand'
    tell wipe
    gone "$session"
}
t_two_sessions() {
    open_session
    first=$session
    exec 4<&3
    open_session
    [ "$first" != "$session" ] || die "two opens of clone gave one session"
    [ -d "$first" ] && [ -d "$session" ] || die "one of the two sessions is gone"
}
t_node_facts() {
    for file in arch procs; do
        cat "$root/$file" >$scratch/fact || die "$file cannot be read"
    done
    case $(cat "$root/arch") in
        */*) ;;
        *) die "arch says '$(cat "$root/arch")'" ;;
    esac
}
t_upload() {
    open_session
    upload
    same "the program read back" "$(md5sum <"$session/fs/busybox")" "$(md5sum <$program)"
    [ -x "$session/fs/busybox" ] || die "the program is not executable"
}
t_cat() {
    open_session
    start 'busybox cat'
    echo "fed through a file" >"$session/stdin" || die "stdin refused the text"
    echo "and a second time" >"$session/stdin" || die "stdin refused the text"
    tell close stdin
    same "stdout" "$(cat "$session/stdout")" "fed through a file
and a second time"
    same "wait" "$(cat "$session/wait")" 0
}
t_stderr_and_status() {
    open_session
    start "busybox sh -c 'echo out; echo err >&2; exit 3'"
    tell close stdin
    same "stdout" "$(cat "$session/stdout")" out
    same "stderr" "$(cat "$session/stderr")" err
    same "wait" "$(cat "$session/wait")" 768
}
t_environment() {
    open_session
    echo "GREETING='hello, world'" >"$session/env" || die "env was refused"
    start "busybox sh -c 'echo \$GREETING'"
    same "stdout" "$(cat "$session/stdout")" "hello, world"
}
t_environment_appended() {
    open_session
    echo "GREETING='hello, world'" >>"$session/env" || die "env was refused"
    start "busybox sh -c 'echo \$GREETING; echo \${PATH:+with a PATH}'"
    same "stdout" "$(cat "$session/stdout")" "hello, world
with a PATH"
}
t_identity() {
    open_session
    same "id at first" "$(cat "$session/id")" /0
    tell id 7/3
    same "id" "$(cat "$session/id")" 7/3
    start "busybox sh -c 'echo \$XCPUSID \$XCPUID; pwd >&2; echo \$XCPUPATH >&2'"
    same "stdout" "$(cat "$session/stdout")" "$id 7/3"
    same "its places" "$(uniq "$session/stderr" | wc -l)" 1
}
t_uploaded_binary() {
    open_session
    cat $program >"$session/exec" || die "exec takes no binary"
    (cat $program >"$session/exec") 2>/dev/null && die "exec takes a second binary"
    echo "busybox echo generation one" >"$session/argv" || die "argv was refused"
    tell exec
    same "stdout" "$(cat "$session/stdout")" "generation one"
}
t_redirect() {
    open_session
    echo "from a file" >"$session/fs/in" || die "fs/ takes no file"
    tell redirect stdin in
    tell redirect stdout out
    (cat "$session/stdout") 2>/dev/null && die "a redirected stdout can be read"
    start 'busybox cat'
    same "wait" "$(cat "$session/wait")" 0
    same "the file" "$(cat "$session/fs/out")" "from a file"
}
t_program_of_the_node() {
    open_session
    echo 'sh -c "echo here"' >"$session/argv" || die "argv was refused"
    tell exec /bin/sh
    same "stdout" "$(cat "$session/stdout")" here
    case $(cat "$session/ctl") in
        '' | *[!0-9]*) die "ctl does not tell the process" ;;
    esac
}
t_data_file() {
    open_session
    mkdir "$session/fs/in" || die "fs/ takes no directory"
    seq 1 1000 >"$session/fs/in/numbers" || die "fs/ takes no file"
    start 'busybox tail -n 1 in/numbers'
    same "stdout" "$(cat "$session/stdout")" 1000
}
t_result_file() {
    open_session
    start "busybox sh -c 'echo result >made'"
    same "wait" "$(cat "$session/wait")" 0
    same "the file it made" "$(cat "$session/fs/made")" result
}
t_stream() {
    open_session
    head -c 1048576 /dev/urandom >$scratch/big
    start 'busybox cat'
    (
        cat $scratch/big >"$session/stdin"
        tell close stdin
    ) &
    same "the checksum of 1 MiB" "$(md5sum <"$session/stdout")" "$(md5sum <$scratch/big)"
    wait
}
t_signal() {
    open_session
    start 'busybox sleep 100'
    tell signal TERM
    same "wait" "$(cat "$session/wait")" 15
}
t_wait_first() {
    open_session
    start 'busybox cat'
    cat "$session/wait" >$scratch/wait &
    sleep 0.5
    [ ! -s $scratch/wait ] || die "wait answered before the end"
    tell close stdin
    wait $!
    same "wait" "$(cat $scratch/wait)" 0
}
t_interrupted_read() {
    open_session
    start 'busybox sleep 100'
    cat "$session/stdout" >/dev/null &
    reader=$!
    sleep 0.5
    kill -9 $reader
    wait $reader 2>/dev/null # ends only when the server has answered the Tflush
    tell signal KILL
    same "wait" "$(cat "$session/wait")" 9
}
t_refusals() {
    open_session
    (echo nonsense >"$session/ctl") 2>/dev/null && die "ctl took 'nonsense'"
    (echo exec missing >"$session/ctl") 2>/dev/null && die "ctl ran a program that is not there"
    (echo signal NOSUCH >"$session/ctl") 2>/dev/null && die "ctl took 'signal NOSUCH'"
    [ -d "$session" ] || die "a refused command ended the session"
}
t_close_ends_it() {
    open_session
    exec 3<&-
    gone "$session"
}
t_wipe() {
    open_session
    start 'busybox sleep 100'
    tell wipe
    exec 3<&-
    gone "$session"
}
t_persistent() {
    open_session
    tell type persistent
    exec 3<&-
    sleep 0.5
    [ -d "$session" ] || die "a persistent session ended with its clone"
    tell wipe
    gone "$session"
}

if [ ! -e "$root/clone" ]; then
    echo "FAIL tree: there is no clone in $root, which holds: $(ls "$root" 2>&1 | tr '\n' ' ')"
    exit 1
fi
[ $# -gt 0 ] || set -- $(sed -n 's/^t_\([a-z_0-9]*\)() {$/\1/p' "$0")
for name in "$@"; do
    if ("t_$name") >$scratch/said 2>&1; then
        echo "ok $name"
    else
        echo "FAIL $name: $(tail -n 1 $scratch/said)"
        failed=1
    fi
done
rm -r "$scratch"
exit $failed
