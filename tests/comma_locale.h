/* A locale with a decimal comma, for the tests of text that must not depend on it. */
#ifndef PSFM_TEST_COMMA_LOCALE_H
#define PSFM_TEST_COMMA_LOCALE_H

#include "test_util.h"

#include <locale.h>
#include <stdbool.h>

#include "core/base/path.h"

/* Builds the locale in a folder of its own if the system has its source, and switches to it. */
static inline bool build_comma_locale(void) {
    char folder[] = "/tmp/planarsfm-locale-XXXXXX", command[256];
    if (mkdtemp(folder) == NULL)
        return false;
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 '%s/de_DE.UTF-8' 2> /dev/null",
             folder);
    setenv("LOCPATH", folder, 1);
    bool built = system(command) == 0 && setlocale(LC_ALL, "de_DE.UTF-8") != NULL;
    (void)psfm_remove_all(NULL, folder); /* it is loaded */
    unsetenv("LOCPATH");
    return built;
}

/* Switches to the locale, or skips the test. */
static inline void set_comma_locale(void) {
    char text[16];
    if (setlocale(LC_ALL, "de_DE.UTF-8") == NULL && !build_comma_locale()) {
        print_message("no locale with a decimal comma can be had\n");
        skip();
    }
    snprintf(text, sizeof text, "%.1f", 0.5);
    assert_string_equal(text, "0,5");
}

/* Checks that the locale is still the same, and leaves it. */
static inline void leave_comma_locale(void) {
    char text[16];
    snprintf(text, sizeof text, "%.1f", 0.5);
    setlocale(LC_ALL, "C");
    assert_string_equal(text, "0,5");
}

#endif
