/* The tags of an XML text, one after another: enough for drawings, not for documents. */
#ifndef PSFM_IO_XML_TAGS_H
#define PSFM_IO_XML_TAGS_H

#include <stdbool.h>
#include <stddef.h>

/* A piece of the text; it does not end with a 0. */
typedef struct {
    const char *text;
    size_t size;
} psfm_xml_word;

typedef struct {
    psfm_xml_word name;       /* without a prefix such as svg: */
    psfm_xml_word attributes; /* all of them as they are written */
    bool opens, closes;       /* both: <name/> */
} psfm_xml_tag;

typedef struct {
    const char *at, *end;
    bool is_broken; /* a tag, comment or quotation that does not end */
} psfm_xml_reader;

psfm_xml_reader psfm_xml_open(const char *text, size_t size);

/* The next tag; comments, declarations and text between tags are passed over. False at the end, or
 * if the rest is broken. */
bool psfm_xml_next(psfm_xml_reader *reader, psfm_xml_tag *tag);

/* The value of an attribute, as it is written; false if the tag has none of this name. */
bool psfm_xml_attribute(const psfm_xml_tag *tag, const char *name, psfm_xml_word *value);

bool psfm_xml_is(psfm_xml_word word, const char *text);

#endif
