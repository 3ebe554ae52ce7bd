/* Foreign text in files and on terminals: names of files may hold any bytes, and no reader may be
 * misled by them. UTF-8 is decoded strictly: what is malformed, overlong, a surrogate or beyond
 * Unicode is not UTF-8. */
#ifndef PSFM_BASE_ESCAPE_H
#define PSFM_BASE_ESCAPE_H

#include <stdint.h>
#include <stdio.h>

#include "core/base/context.h"

/* Length of the UTF-8 sequence at `text` (not at its end) and its code point; 0 if it is none. */
int psfm_utf8_decode(const char *text, uint32_t *code);

/* Copies a text; each byte that is not UTF-8 becomes U+FFFD. *out is malloc'ed. */
psfm_status psfm_utf8_copy(psfm_context *ctx, const char *text, char **out);

/* Prints a text that stays on its line and does nothing to a terminal: bytes of control characters
 * (also those of line separators and of C1) and bytes that are not UTF-8 are printed as \xNN.
 * Returns how many characters that were. */
int psfm_print_plain(FILE *file, const char *text);

/* Prints the contents of an XML element or attribute; what XML cannot hold becomes U+FFFD. */
void psfm_print_xml(FILE *file, const char *text);

/* Prints a quoted string of JSON, which is one of YAML, too. Besides quotes, backslashes and
 * control characters, also <, >, & and the two line separators of Unicode are escaped, so that no
 * text can end a <script> element. What is not UTF-8 becomes U+FFFD. */
void psfm_print_json_string(FILE *file, const char *text);

#endif
