# Compares what a run printed with what it should have: awk -v deck=D -v cut=IxJ -f compare.awk
# checks.txt OUTPUT. Exit status 1, and a line for each difference, if there is any.

function off(got, want, digits) {
    return (got > want ? got - want : want - got) > 10 ^ -digits * (want > 0 ? want : -want)
}

/^#/ { next }

FILENAME == ARGV[1] {
    if ($1 == deck) { value[$2] = $3; digits[$2] = $4; fixups[$2] = $5; wanted++ }
    next
}

$1 in value {
    found++
    if (value[$1] != "-" && ($2 !~ /[0-9]/ || off($2 + 0, value[$1] + 0, digits[$1]))) {
        printf "%s on %s: %s is %s instead of %s\n", deck, cut, $1, $2, value[$1]
        bad = 1
    }
    if (fixups[$1] != "-" && $3 != fixups[$1]) {
        printf "%s on %s: %s has %s fixups instead of %s\n", deck, cut, $1, $3, fixups[$1]
        bad = 1
    }
}

END {
    if (!bad && (wanted == 0 || found != wanted)) {
        printf "%s on %s: %d of %d values printed\n", deck, cut, found, wanted
        bad = 1
    }
    if (!bad)
        printf "%s on %s: %d values as they should be\n", deck, cut, found
    exit bad
}
