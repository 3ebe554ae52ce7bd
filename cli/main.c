#include <stdio.h>

#include "base/context.h"

int main(void) {
    puts("planarsfm");
    return 0;
}
