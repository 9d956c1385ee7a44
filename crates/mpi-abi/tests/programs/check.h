/* What the test programs do when something is not as it should be: they say where, and end. */
#include <stdio.h>
#include <stdlib.h>

#define CHECK(what) ((what) ? (void)0 : (printf("line %d: %s\n", __LINE__, #what), exit(1)))
