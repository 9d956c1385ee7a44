#!/bin/sh
# File checks on a read-write export, through v9fs: run ADDR posix.sh [MOUNT_OPTIONS]
#
# One line a check: `ok NAME`, `skip NAME: reason` (the dialect or this client cannot do it) or
# `FAIL NAME: reason`. Exits 1 if any failed. Works in a directory of its own, removed at the end.
# $VERSION is the dialect; arguments name the checks to run. With $TOP set to another directory
# of the guest the checks test themselves on its file system.
top=$(mktemp -d "${TOP:-/mnt/9p}/posix.XXXXXX") || exit 1
second=/mnt/second
failed=0

die() {
    echo "$*"
    exit 1
}
same() { # same WHAT GOT WANTED
    [ "$2" = "$3" ] || die "$1 is '$2', not '$3'"
}
refused() { # refused REASON COMMAND...: it must fail, and say so
    wanted=$1
    shift
    if ("$@") >/tmp/refused 2>&1; then
        die "'$*' was not refused"
    fi
    grep -qi "$wanted" /tmp/refused || die "'$*' said '$(tail -n 1 /tmp/refused)', not '$wanted'"
}
sum() {
    md5sum <"$1" | cut -d ' ' -f 1
}
# perl with the system calls that shells lack; a failing call dies with its reason
calls() {
    perl -MFcntl=:DEFAULT,:flock,:seek,:mode -e '
        sub must { defined $_[0] && $_[0] or die "$_[1]: $!\n" }
        sub range { # range HANDLE COMMAND TYPE START LENGTH: a struct flock of amd64 linux
            fcntl $_[0], $_[1], pack "s s x4 q q i x4", $_[2], SEEK_SET, $_[3], $_[4], 0;
        }
        '"$@"
}
linux_only() {
    [ "$VERSION" = 9p2000.L ] || skip "$VERSION has no message for it"
}
skip() {
    echo "$*" >/tmp/skipped
    exit 0
}
other_mount() {
    there=$top/$name
    [ -z "$TOP" ] || return 0
    grep -q " $second 9p " /proc/mounts || mount-9p $second cache=none || die "no second mount"
    there=$second/${top##*/}/$name
}

# --- contents -----------------------------------------------------------------------------------

t_create() {
    : >f
    same "the size" "$(stat -c %s f)" 0
    same "the type" "$(stat -c %F f)" "regular empty file"
}
t_create_exclusive() {
    echo old >f
    refused "exist" sh -c 'set -C; echo new >f'
    same "the text" "$(cat f)" old
}
t_write_read() {
    echo "one line" >f
    same "the text" "$(cat f)" "one line"
    same "the size" "$(stat -c %s f)" 9
}
t_append() {
    echo a >f
    echo b >>f
    echo c >>f
    same "the text" "$(tr '\n' ' ' <f)" "a b c "
}
t_read_at_offset() {
    printf 0123456789 >f
    same "the piece" "$(dd if=f bs=1 skip=3 count=4 2>/dev/null)" 3456
    same "the text past the end" "$(dd if=f bs=1 skip=20 count=4 2>/dev/null)" ""
}
t_write_at_offset() {
    printf 0123456789 >f
    printf XY | dd of=f bs=1 seek=4 conv=notrunc 2>/dev/null
    same "the text" "$(cat f)" 0123XY6789
}
t_sparse() {
    printf end | dd of=f bs=1 seek=100000 2>/dev/null
    same "the size" "$(stat -c %s f)" 100003
    same "the hole" "$(head -c 100000 f | tr -d '\0' | wc -c)" 0
}
t_truncate_down() {
    printf 0123456789 >f
    truncate -s 4 f
    same "the text" "$(cat f)" 0123
}
t_truncate_up() {
    printf 01 >f
    truncate -s 6 f
    same "the bytes" "$(od -An -c f | tr -s ' ')" ' 0 1 \0 \0 \0 \0'
}
t_truncate_open() {
    printf 0123456789 >f
    : >f
    same "the size" "$(stat -c %s f)" 0
}
t_big_file() {
    head -c 2621440 /dev/urandom >/tmp/big
    cp /tmp/big f
    same "the checksum" "$(sum f)" "$(sum /tmp/big)"
    same "the size" "$(stat -c %s f)" 2621440
    rm /tmp/big
}
t_odd_sizes() {
    for size in 1 4095 4097 65512 65536 65537 131048 131073; do
        head -c $size /dev/urandom >/tmp/odd
        cat /tmp/odd >f
        same "the checksum of $size bytes" "$(sum f)" "$(sum /tmp/odd)"
    done
}
t_one_byte_blocks() {
    printf 0123456789abcdef | dd of=f bs=1 2>/dev/null
    same "the text" "$(dd if=f bs=1 2>/dev/null)" 0123456789abcdef
}
t_fsync() {
    echo kept >f
    sync f
    printf more | dd of=f bs=4 conv=fsync,notrunc 2>/dev/null
    same "the text" "$(cat f)" more
}
t_fdatasync() {
    calls 'must sysopen(my $f, "f", O_CREAT | O_RDWR), "open";
           must syswrite($f, "x"), "write";
           syscall(75, fileno $f) == 0 or die "fdatasync: $!\n"'
}

# --- names --------------------------------------------------------------------------------------

t_rename() {
    echo x >a
    mv a b
    [ ! -e a ] || die "the old name is still there"
    same "the text" "$(cat b)" x
}
t_rename_over() {
    echo new >a
    echo old >b
    calls 'rename "a", "b" or die "rename: $!\n"'
    same "the text" "$(cat b)" new
    [ ! -e a ] || die "the old name is still there"
}
t_rename_directory() {
    mkdir d e
    echo x >d/f
    mv d e/g
    same "the text" "$(cat e/g/f)" x
}
t_rename_across() {
    linux_only
    mkdir d e
    echo x >d/f
    calls 'rename "d/f", "e/g" or die "rename: $!\n"'
    same "the text" "$(cat e/g)" x
}
t_rename_over_full_directory() {
    mkdir d e
    : >e/f
    refused "not empty\|exist" calls 'rename "d", "e" or die "rename: $!\n"'
}
t_rename_open() {
    exec 4<>a
    mv a b
    echo x >&4
    exec 4>&-
    same "the text" "$(cat b)" x
}
t_unlink() {
    : >f
    rm f
    [ ! -e f ] || die "the file is still there"
    refused "no such" rm f
}
t_unlink_open() {
    echo before >f
    exec 4<>f
    rm f
    [ ! -e f ] || die "the name is still there"
    echo after >&4
    # lseek and read alone; perl's own files would ask for the attributes too
    calls 'use POSIX (); POSIX::lseek(4, 0, 0); must defined POSIX::read(4, my $got, 100), "read";
           $got eq "after\n\n" or die "read $got\n"'
}
t_unlink_open_stat() {
    echo before >f
    exec 4<>f
    rm f
    calls 'open my $f, "<&=4" or die "$!\n"; my @s = stat $f; @s or die "fstat: $!\n";
           $s[7] == 7 or die "the size is $s[7], not 7\n";
           $ENV{VERSION} ne "9p2000.L" or $s[3] == 0 or die "$s[3] links\n"'
}
t_unlink_open_truncate() {
    echo before >f
    exec 4<>f
    rm f
    calls 'open my $f, "+<&=4" or die "$!\n"; truncate $f, 2 or die "truncate: $!\n";
           seek $f, 0, 0; local $/; my $got = <$f>; $got eq "be" or die "read $got\n"'
}
t_unlink_open_other_file() {
    echo old >f
    exec 4<f
    rm f
    echo new >f
    same "the old file" "$(cat <&4)" old
    same "the new file" "$(cat f)" new
}
t_mkdir() {
    mkdir d
    same "the type" "$(stat -c %F d)" directory
    refused "exist" mkdir d
    mkdir -p d/e/f/g
    [ -d d/e/f/g ] || die "the path is missing"
}
t_rmdir() {
    mkdir d
    rmdir d
    [ ! -e d ] || die "the directory is still there"
}
t_rmdir_full() {
    mkdir d
    : >d/f
    refused "not empty" rmdir d
    [ -e d/f ] || die "the file is gone"
}
t_unlink_directory() {
    mkdir d
    refused "is a directory\|not permitted" calls 'unlink "d" or die "unlink: $!\n"'
}
t_symlink() {
    [ "$VERSION" != 9p2000 ] || skip "$VERSION has no symbolic links"
    echo x >f
    ln -s f l
    same "the target" "$(readlink l)" f
    same "the text" "$(cat l)" x
    same "the type" "$(stat -c %F l)" "symbolic link"
}
t_symlink_dangling() {
    [ "$VERSION" != 9p2000 ] || skip "$VERSION has no symbolic links"
    long=$(printf '%0200d/' 1 2 3)nowhere
    ln -s "$long" l
    same "the target" "$(readlink l)" "$long"
    refused "no such" cat l
    rm l
}
t_hard_link() {
    [ "$VERSION" != 9p2000 ] || skip "$VERSION has no hard links"
    echo x >a
    ln a b
    [ "$VERSION" = 9p2000.u ] || same "the link count" "$(stat -c %h a)" 2
    same "the inode" "$(stat -c %i b)" "$(stat -c %i a)"
    rm a
    same "the text" "$(cat b)" x
    same "the link count after" "$(stat -c %h b)" 1
}
t_fifo() {
    [ "$VERSION" != 9p2000 ] || skip "$VERSION has no named pipes"
    mkfifo p
    same "the type" "$(stat -c %F p)" fifo
    (echo through >p) &
    same "the text" "$(cat p)" through
}
t_missing() {
    refused "no such" cat missing
    refused "no such" cat missing/deeper
    : >f
    refused "not a directory" cat f/deeper
}
t_names() {
    for made in ' ' 'a b' '-dash' 'tab	tab' 'back\slash' 'quote"s' "Grüße" '日本語' '...' '*' 'new
line'; do
        echo "$made" >"./$made"
        same "the text of '$made'" "$(cat "./$made")" "$made"
    done
    same "the number of names" "$(perl -e 'opendir D, "."; my @names = grep !/^\.\.?$/, readdir D;
        print scalar @names')" 11
}
t_name_255() {
    long=$(printf '%0255d' 7)
    echo x >"$long"
    same "the text" "$(cat "$long")" x
    same "the listing" "$(ls)" "$long"
    mv "$long" short
    mv short "$long"
    rm "$long"
}
t_name_256() {
    refused "too long" sh -c ": >$(printf '%0256d' 7)"
}
t_deep_path() {
    path=.
    for depth in $(seq 30); do
        path=$path/level-$depth
    done
    mkdir -p $path
    echo x >$path/f
    same "the text" "$(cat $path/f)" x
}
# Through messages so short that it takes several to read a directory.
t_readdir_many() {
    mkdir d
    seq 1 150 | sed s/^/entry-/ | sort >/tmp/entries
    (cd d && xargs -n 50 touch </tmp/entries)
    all=$(md5sum </tmp/entries)
    same "the entries" "$(ls d | sort | md5sum)" "$all"
    # the other dialects have no entries for . and .., and v9fs does not make them up
    [ "$VERSION" != 9p2000.L ] || same "the entries with . and .." "$(ls -a d | wc -l)" 152
    short=d
    if [ -z "$TOP" ]; then
        mount-9p /mnt/short msize=4096,cache=none || die "no mount with short messages"
        short=/mnt/short/${top##*/}/$name/d
    fi
    same "the entries in several messages" "$(ls "$short" | sort | md5sum)" "$all"
    calls 'opendir my $d, shift or die "$!\n"; my @a = readdir $d; rewinddir $d;
           my @b = readdir $d; @a >= 150 && "@a" eq "@b" or die @a . " names, then " . @b . "\n"
           ' "$short"
    rm -r "$short"
    [ ! -e "$short" ] || die "the directory is still there"
}
t_readdir_types() {
    mkdir d
    : >f
    same "what find tells directories" "$(find . -mindepth 1 -type d)" ./d
    same "what find tells files" "$(find . -mindepth 1 -type f)" ./f
}

# --- attributes ---------------------------------------------------------------------------------

t_chmod() {
    : >f
    for mode in 600 755 444 4755 1777; do
        [ "$VERSION" != 9p2000 ] || [ $mode -lt 1000 ] || continue
        chmod $mode f
        same "the mode" "$(stat -c %a f)" $mode
    done
}
t_umask() {
    (umask 027 && : >f && mkdir d)
    same "the file's mode" "$(stat -c %a f)" 640
    same "the directory's mode" "$(stat -c %a d)" 750
}
t_chown() {
    [ "$VERSION" != 9p2000 ] || skip "$VERSION has no numeric owners"
    : >f
    chown 1234:2345 f
    same "the owner" "$(stat -c %u:%g f)" 1234:2345
    chown :99 f
    same "the owner" "$(stat -c %u:%g f)" 1234:99
}
t_utimes() {
    : >f
    touch -d @1000000000 f
    same "the time" "$(stat -c %Y f)" 1000000000
    touch f
    [ $(($(stat -c %Y f) - $(date +%s))) -gt -3600 ] || die "the time is not near now"
}
t_utimes_nanoseconds() {
    linux_only
    : >f
    # utimensat(AT_FDCWD, "f", {{5, 6}, {1000000000, 123456789}}, 0)
    calls 'my $times = pack "q4", 5, 6, 1000000000, 123456789; my $name = "f";
           syscall(280, -100, $name, $times, 0) == 0 or die "utimensat: $!\n"'
    got=$(calls 'my $name = "f"; my $stat = "\0" x 144;
        syscall(4, $name, $stat) == 0 or die "stat: $!\n";
        print join ".", unpack "x72 q4", $stat')
    [ "$got" != 5.0.1000000000.0 ] || skip "this kernel's v9fs sends whole seconds"
    same "the time" "$got" 5.6.1000000000.123456789
}
t_mtime_moves() {
    echo a >f
    touch -d @1000000000 f
    echo b >>f
    [ "$(stat -c %Y f)" -gt 1000000000 ] || die "a write left the time as it was"
}
t_stat_of_root() {
    same "the type" "$(stat -c %F "${TOP:-/mnt/9p}")" directory
    [ "$(stat -c %i "${TOP:-/mnt/9p}")" != 0 ] || die "the inode is 0"
}
t_inodes_differ() {
    : >a
    : >b
    mkdir c
    same "the number of inodes" "$(stat -c %i a b c . | sort -u | wc -l)" 4
}
t_statfs() {
    linux_only # in the others the client makes the answer up
    [ "$(stat -f -c %b .)" -gt 0 ] || die "the file system has no blocks"
    [ "$(stat -f -c %l .)" -ge 255 ] || die "names may have $(stat -f -c %l .) bytes"
    df . >/dev/null
}
t_xattr() {
    linux_only
    : >f
    setfattr -n user.color -v blue f || die "setfattr failed"
    same "the value" "$(getfattr --only-values -n user.color f)" blue
    setfattr -n user.color -v "$(printf '%01000d' 3)" f
    same "the long value" "$(getfattr --only-values -n user.color f)" "$(printf '%01000d' 3)"
    setfattr -n user.other -v x f
    same "the names" "$(getfattr -d f | grep -c '^user\.')" 2
    setfattr -x user.color f
    refused "no such attribute" getfattr -n user.color f
    refused "no such attribute" setfattr -x user.color f
}
t_xattr_empty() {
    linux_only # on the wire it differs from a removal in the flags of Txattrcreate alone
    : >f
    setfattr -n user.empty f || die "setfattr failed"
    same "the value" "$(getfattr --only-values -n user.empty f 2>&1)" ""
}
t_other_user() {
    [ "$VERSION" != 9p2000 ] || skip "$VERSION has no numeric users"
    : >private
    chmod 600 private
    chmod 1777 .
    echo 'open my $f, ">", "mine" or die "create: $!\n"; print $f "x"; close $f or die "$!\n";
          my ($u, $g) = (stat "mine")[4, 5]; "$u:$g" eq "65534:65534" or die "owned by $u:$g\n";
          open(my $p, "<", "private") and die "another user opened a private file\n";
          $!{EACCES} or die "open: $!\n"' >/tmp/user.pl
    perl -e '$) = "65534 65534"; $( = 65534; $< = $> = 65534; do "/tmp/user.pl"; die $@ if $@'
}

# --- locks and two clients ----------------------------------------------------------------------

held() { # held FLAG FILE SECONDS: it is locked in the background, and is now
    flock "$1" "$2" sh -c ": >held; sleep $3" &
    until [ -e held ]; do usleep 50000; done
}
t_flock() {
    : >f
    held -x f 3
    flock -n -x f true && die "two held the lock"
    flock -x f true || die "the lock did not come free"
}
t_flock_shared() {
    : >f
    held -s f 4
    flock -n -s f true || die "readers do not share"
    flock -n -x f true && die "a writer shares with a reader"
    true
}
t_flock_two_clients() {
    linux_only
    other_mount
    : >f
    held -x f 4
    flock -n -x "$there/f" true && die "two clients held the lock"
    flock -x "$there/f" true || die "the lock did not come free"
}
t_fcntl_lock() {
    linux_only # in the others the client grants every lock itself
    : >f
    calls 'must open(my $f, "+<", "f"), "open"; must range($f, F_SETLK, F_WRLCK, 0, 0), "lock";
           if (!fork) { open my $g, "+<", "f"; exit(range($g, F_SETLK, F_WRLCK, 0, 0) ? 1 : 0) }
           wait; $? == 0 or die "two held the lock\n";
           must range($f, F_SETLK, F_UNLCK, 0, 0), "unlock";
           if (!fork) { open my $g, "+<", "f"; exit(range($g, F_SETLK, F_WRLCK, 0, 0) ? 0 : 1) }
           wait; $? == 0 or die "the lock did not come free\n"'
}
t_fcntl_ranges() {
    linux_only # in the others the client grants every lock itself
    : >f
    calls 'must open(my $f, "+<", "f"), "open"; must range($f, F_SETLK, F_WRLCK, 10, 10), "lock";
           if (!fork) { open my $g, "+<", "f"; range($g, F_SETLK, F_WRLCK, 20, 5) or exit 1;
               range($g, F_SETLK, F_RDLCK, 15, 1) and exit 2; exit 0 }
           wait; my $got = $? >> 8;
           $got == 0 or die $got == 1 ? "ranges apart collide\n" : "ranges overlap\n"'
}
t_fcntl_two_clients() {
    linux_only
    other_mount
    : >f
    THERE=$there/f calls 'must open(my $f, "+<", "f"), "open";
        must open(my $g, "+<", $ENV{THERE}), "open there";
        must range($f, F_SETLK, F_WRLCK, 10, 10), "lock";
        if (!fork) { exit(range($g, F_SETLK, F_WRLCK, 12, 1) ? 1 : 0) }
        wait; $? == 0 or die "two clients held the same bytes\n";
        if (!fork) { exit(range($g, F_SETLK, F_WRLCK, 20, 10) ? 0 : 1) }
        wait; $? == 0 or die "bytes apart collide between clients\n"'
}
t_fcntl_getlk() {
    linux_only
    other_mount
    : >f
    THERE=$there/f calls 'must open(my $f, "+<", "f"), "open";
        must open(my $g, "+<", $ENV{THERE}), "open there";
        must range($f, F_SETLK, F_WRLCK, 10, 10), "lock";
        if (!fork) {
            my $lock = pack "s s x4 q q i x4", F_WRLCK, SEEK_SET, 0, 0, 0;
            must fcntl($g, F_GETLK, $lock), "F_GETLK";
            my ($type, $whence, $start, $length) = unpack "s s x4 q q", $lock;
            $type == F_WRLCK or die "no lock was told\n";
            "$start+$length" eq "10+10" or die "the lock told is $start+$length, not 10+10\n";
            exit 0;
        }
        wait; exit($? >> 8)'
}
t_fcntl_waits() {
    linux_only
    other_mount
    : >f
    THERE=$there/f calls 'must open(my $f, "+<", "f"), "open";
        must range($f, F_SETLK, F_WRLCK, 0, 1), "lock";
        my $child = fork;
        if (!$child) { open my $g, "+<", $ENV{THERE};
            exit(range($g, F_SETLKW, F_WRLCK, 0, 1) ? 0 : 1) }
        select undef, undef, undef, 0.5;
        waitpid($child, 1) == 0 or die "the second client did not wait\n";
        must range($f, F_SETLK, F_UNLCK, 0, 1), "unlock";
        $SIG{ALRM} = sub { kill 9, $child; die "the lock did not reach the second client\n" };
        alarm 40; waitpid $child, 0; $? == 0 or die "the second client got no lock\n"'
}
t_two_clients_see() {
    ! grep -q 'cache=\(loose\|fscache\)' /job/options ||
        skip "this cache mode does not look"
    other_mount
    echo one >f
    same "the other client's text" "$(cat "$there/f")" one
    echo "one and more" >"$there/f"
    same "this client's text" "$(cat f)" "one and more"
    rm "$there/f"
    [ ! -e f ] || die "a removed file is still there"
}
t_append_two_writers() {
    [ "$VERSION" != 9p2000 ] || skip "$VERSION has no append, only offsets"
    (for i in 1 2 3 4 5 6 7 8 9 10; do echo aaaaaaaa >>f; done) &
    for i in 1 2 3 4 5 6 7 8 9 10; do echo bbbbbbbb >>f; done
    wait
    same "the size" "$(stat -c %s f)" 180
}
t_many_open() {
    calls 'my @open; for my $i (1 .. 200) {
               open my $f, ">", "f$i" or die "open $i: $!\n"; print $f $i; push @open, $f }
           close $_ or die "close: $!\n" for @open; -s "f200" == 3 or die "f200 is not 3 long\n"'
}
t_busy_tree() {
    [ "$VERSION" != 9p2000 ] || skip "$VERSION has no symbolic links, and the tree has"
    mkdir a
    for i in 1 2 3 4; do
        (mkdir -p a/$i && cp -r /sys/class/virtio-ports a/$i/ && rm -r a/$i) &
    done
    wait
    same "what is left" "$(ls a)" ""
}

# --- the run ------------------------------------------------------------------------------------

chmod 755 "$top" 2>/dev/null
[ $# -gt 0 ] || set -- $(sed -n 's/^t_\([a-z_0-9]*\)() {$/\1/p' "$0")
for name in "$@"; do
    rm -f /tmp/skipped
    if ! mkdir "$top/$name" 2>/tmp/said; then
        echo "FAIL $name: the server makes no more directories: $(tail -n 1 /tmp/said)"
        exit 1
    fi
    (
        cd "$top/$name" || exit 1
        set -e
        "t_$name"
    ) >/tmp/said 2>&1
    if [ $? -ne 0 ]; then
        echo "FAIL $name: $(tail -n 1 /tmp/said)"
        failed=1
    elif [ -e /tmp/skipped ]; then
        echo "skip $name: $(cat /tmp/skipped)"
    else
        echo "ok $name"
    fi
    chmod -R u+rwx "$top/$name" 2>/dev/null
    rm -rf "${top:?}/$name" 2>/dev/null
done
rmdir "$top" 2>/dev/null || echo "note: $(ls "$top" | tr '\n' ' ')could not be removed"
exit $failed
