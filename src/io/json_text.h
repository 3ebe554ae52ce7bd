/* JSON as text that may stand anywhere, also inside an HTML page. */
#ifndef PSFM_IO_JSON_TEXT_H
#define PSFM_IO_JSON_TEXT_H

#include <cjson/cJSON.h>
#include <stdio.h>

/* Prints a tree without blanks, strings as psfm_print_json_string does, numbers with nine digits;
 * what is not finite becomes null. The caller sees to the locale and to write errors. */
void psfm_json_print_tree(FILE *file, const cJSON *tree);

#endif
