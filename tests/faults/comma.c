/* Preloaded into a program, it stands for a host that has chosen a locale with a decimal comma: the
 * locale is set before main begins. COMMA_LOCALE names it; a program that cannot have it ends. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((constructor)) static void choose_locale(void) {
    const char *name = getenv("COMMA_LOCALE");
    char text[16];
    if (name == NULL)
        return;
    if (setlocale(LC_ALL, name) == NULL) {
        fprintf(stderr, "there is no locale %s\n", name);
        _Exit(111);
    }
    snprintf(text, sizeof text, "%.1f", 0.5);
    if (text[1] != ',')
        _Exit(112);
}
