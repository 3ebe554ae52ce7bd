/* JSON as text that may stand anywhere, also inside an HTML page. */
#ifndef PSFM_IO_JSON_TEXT_H
#define PSFM_IO_JSON_TEXT_H

#include <cjson/cJSON.h>
#include <stdio.h>

/* Prints a quoted string. Besides quotes, backslashes and control characters, also <, >, & and the
 * two line separators of Unicode are escaped, so that no text can end a <script> element. Bytes
 * that are not UTF-8 become U+FFFD. */
void psfm_json_print_string(FILE *file, const char *text);

/* Prints a tree without blanks, strings as above, numbers with nine digits; what is not finite
 * becomes null. The caller sees to the locale and to write errors. */
void psfm_json_print_tree(FILE *file, const cJSON *tree);

#endif
