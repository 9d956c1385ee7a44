/*
 * A deck: what is to be solved, in five lines of numbers.
 *
 *     NPE_I NPE_J MK MMI NCPU      ranks in I and J, planes and angles of a block, processors
 *     IT_G JT_G KT MM ISCT         cells; 3 (S4) or 6 (S6) angles; scattering P0 or P1
 *     DX DY DZ EPSI                a cell's size in cm; error at which to stop, or -iterations
 *     IBC JBC KBC                  low sides: 0 vacuum, 1 a mirror
 *     IPRINT IDSA IFIXUPS          see README.md; 0 off, 1 on, -n on after n iterations
 *
 * Numbers are separated by blanks or commas; what follows them in a line is a remark, and empty
 * lines do not count. Exponents may be written with a D, as Fortran does.
 */
#include "sweep3d.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The most cells in a direction, so that their number fits in 64 bits; the most iterations. */
enum { MANY = 1000000 };

struct entry {
    const char *name;
    bool real;
    size_t offset;
};

#define WHOLE(name, member) {name, false, offsetof(struct deck, member)}
#define REAL(name, member) {name, true, offsetof(struct deck, member)}

static const struct entry LINE[5][6] = {
    {WHOLE("NPE_I", npe_i), WHOLE("NPE_J", npe_j), WHOLE("MK", mk), WHOLE("MMI", mmi),
     WHOLE("NCPU", ncpu), {NULL, false, 0}},
    {WHOLE("IT_G", it_g), WHOLE("JT_G", jt_g), WHOLE("KT", kt), WHOLE("MM", mm),
     WHOLE("ISCT", isct), {NULL, false, 0}},
    {REAL("DX", dx), REAL("DY", dy), REAL("DZ", dz), REAL("EPSI", epsi), {NULL, false, 0}},
    {WHOLE("IBC", ibc), WHOLE("JBC", jbc), WHOLE("KBC", kbc), {NULL, false, 0}},
    {WHOLE("IPRINT", iprint), WHOLE("IDSA", idsa), WHOLE("IFIXUPS", ifixups), {NULL, false, 0}},
};

/* Reads the number that WORD is into the entry's place in DECK. */
static bool read_number(char *word, const struct entry *entry, struct deck *deck)
{
    char *end, *place = (char *)deck + entry->offset;
    if (entry->real) {
        for (char *at = word; *at != '\0'; at++)
            *at = *at == 'd' || *at == 'D' ? 'e' : *at;
        *(double *)(void *)place = strtod(word, &end);
    } else {
        long value = strtol(word, &end, 10);
        if (value < INT_MIN || value > INT_MAX)
            return false;
        *(int *)(void *)place = (int)value;
    }
    return end != word && *end == '\0';
}

/* Reads line NUMBER (0 to 4), of which TEXT is the rest, up to its end. */
static bool read_line(const char *text, int number, struct deck *deck, char why[MESSAGE])
{
    const char *separators = " \t\r,\n";
    for (const struct entry *entry = LINE[number]; entry->name != NULL; entry++) {
        char word[40];
        text += strspn(text, " \t\r,");
        size_t length = strcspn(text, separators);
        if (length == 0 || *text == '\0') {
            snprintf(why, MESSAGE, "line %d of the deck ends before its %s", number + 1,
                     entry->name);
            return false;
        }
        snprintf(word, sizeof word, "%.*s", length < 39 ? (int)length : 39, text);
        if (length > 39 || !read_number(word, entry, deck)) {
            snprintf(why, MESSAGE, "line %d of the deck has '%.39s' where %s, a %s, should be",
                     number + 1, word, entry->name, entry->real ? "number" : "whole number");
            return false;
        }
        text += length;
    }
    return true;
}

bool deck_parse(const char *text, struct deck *deck, char why[MESSAGE])
{
    for (int number = 0; number < 5; number++) {
        while (isspace((unsigned char)*text))
            text++;
        if (*text == '\0') {
            snprintf(why, MESSAGE, "the deck ends after %d of its 5 lines", number);
            return false;
        }
        if (!read_line(text, number, deck, why))
            return false;
        text += strcspn(text, "\n");
    }
    return true;
}

/* Is VALUE within LOW to HIGH? */
static bool within(const char *name, int value, int low, int high, char why[MESSAGE])
{
    if (value >= low && value <= high)
        return true;
    snprintf(why, MESSAGE, "%s is %d in the deck, but must be %d to %d", name, value, low, high);
    return false;
}

static bool check_sizes(const struct deck *deck, char why[MESSAGE])
{
    const double width[3] = {deck->dx, deck->dy, deck->dz};
    for (int d = 0; d < 3; d++) {
        if (!(width[d] > 0.0) || !isfinite(width[d])) {
            snprintf(why, MESSAGE, "D%c is %g in the deck, but a cell's size must be above 0",
                     'X' + d, width[d]);
            return false;
        }
    }
    double epsi = deck->epsi;
    if (!(epsi > 0.0 && epsi < 1.0) && !(epsi <= -1.0 && epsi >= -MANY && epsi == floor(epsi))) {
        snprintf(why, MESSAGE, "EPSI is %g in the deck, but must be an error between 0 and 1 or, "
                 "negative, a whole number of iterations", epsi);
        return false;
    }
    /* Messages count their doubles in an int, and so do loops over a line. */
    double longest = deck->it_g > deck->jt_g ? deck->it_g : deck->jt_g;
    if (longest * deck->mk * deck->mmi > INT_MAX) {
        snprintf(why, MESSAGE, "a block's face with MK %d and MMI %d is too large for a message",
                 deck->mk, deck->mmi);
        return false;
    }
    return true;
}

/* Can the deck be solved by this number of ranks? */
bool deck_check(const struct deck *deck, int ranks, char why[MESSAGE])
{
    bool good = within("IT_G", deck->it_g, 1, MANY, why) &&
                within("JT_G", deck->jt_g, 1, MANY, why) &&
                within("KT", deck->kt, 1, MANY, why) &&
                within("NPE_I", deck->npe_i, 1, deck->it_g, why) &&
                within("NPE_J", deck->npe_j, 1, deck->jt_g, why) &&
                within("MK", deck->mk, 1, deck->kt, why) &&
                within("MM", deck->mm, 3, 6, why) && within("MMI", deck->mmi, 1, deck->mm, why) &&
                within("ISCT", deck->isct, 0, 1, why) && within("IBC", deck->ibc, 0, 1, why) &&
                within("JBC", deck->jbc, 0, 1, why) && within("KBC", deck->kbc, 0, 1, why) &&
                within("IDSA", deck->idsa, 0, 1, why) &&
                within("IFIXUPS", deck->ifixups, -MANY, 1, why);
    if (!good)
        return false;
    if (deck->mm != 3 && deck->mm != 6) {
        snprintf(why, MESSAGE, "MM is %d in the deck, but must be 3 (S4) or 6 (S6)", deck->mm);
        return false;
    }
    if (deck->mm % deck->mmi != 0) {
        snprintf(why, MESSAGE, "MMI is %d in the deck, but must divide MM, which is %d", deck->mmi,
                 deck->mm);
        return false;
    }
    if ((long)deck->npe_i * deck->npe_j != ranks) {
        snprintf(why, MESSAGE, "the grid is cut for %d x %d = %ld ranks, but there are %d; start "
                 "that many, or give NPE_I and NPE_J after the deck's name", deck->npe_i,
                 deck->npe_j, (long)deck->npe_i * deck->npe_j, ranks);
        return false;
    }
    return check_sizes(deck, why);
}
