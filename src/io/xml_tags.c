/* Tags are found by their angle brackets; a bracket within quotation marks belongs to a value.
 * Entities are not resolved: numbers have none. */
#include "io/xml_tags.h"

#include <string.h>

static bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool starts_with(const psfm_xml_reader *r, const char *text) {
    size_t size = strlen(text);
    return (size_t)(r->end - r->at) >= size && memcmp(r->at, text, size) == 0;
}

/* Goes behind the next `text`; false if there is none. */
static bool pass(psfm_xml_reader *r, const char *text) {
    for (; r->at < r->end; ++r->at)
        if (starts_with(r, text)) {
            r->at += strlen(text);
            return true;
        }
    r->is_broken = true;
    return false;
}

/* Goes behind a declaration, which may have others within brackets: <!DOCTYPE svg [ ... ]>. */
static bool pass_declaration(psfm_xml_reader *r) {
    int depth = 0;
    for (; r->at < r->end; ++r->at) {
        depth += *r->at == '[' ? 1 : *r->at == ']' ? -1 : 0;
        if (*r->at == '>' && depth <= 0) {
            ++r->at;
            return true;
        }
    }
    r->is_broken = true;
    return false;
}

/* Goes to the bracket that ends a tag. */
static bool find_end(psfm_xml_reader *r) {
    char quote = '\0';
    for (; r->at < r->end; ++r->at) {
        char c = *r->at;
        if (quote == '\0' && c == '>')
            return true;
        if (quote != '\0' ? c == quote : (c == '"' || c == '\''))
            quote = quote != '\0' ? '\0' : c;
    }
    r->is_broken = true;
    return false;
}

psfm_xml_reader psfm_xml_open(const char *text, size_t size) {
    return (psfm_xml_reader){.at = text, .end = text + size};
}

static bool read_tag(psfm_xml_reader *r, psfm_xml_tag *tag) {
    *tag = (psfm_xml_tag){.opens = true};
    if (r->at < r->end && *r->at == '/') {
        tag->closes = true;
        tag->opens = false;
        ++r->at;
    }
    const char *first = r->at;
    if (!find_end(r))
        return false;
    const char *last = r->at++;
    if (tag->opens && last > first && last[-1] == '/') {
        tag->closes = true;
        --last;
    }
    const char *name = first;
    while (first < last && !is_space(*first)) {
        if (*first == ':')
            name = first + 1;
        ++first;
    }
    tag->name = (psfm_xml_word){name, (size_t)(first - name)};
    tag->attributes = (psfm_xml_word){first, (size_t)(last - first)};
    return true;
}

bool psfm_xml_next(psfm_xml_reader *reader, psfm_xml_tag *tag) {
    for (;;) {
        const char *next = reader->at < reader->end
                               ? memchr(reader->at, '<', (size_t)(reader->end - reader->at))
                               : NULL;
        if (next == NULL || reader->is_broken)
            return false;
        reader->at = next + 1;
        bool passed = true;
        if (starts_with(reader, "!--"))
            passed = pass(reader, "-->");
        else if (starts_with(reader, "![CDATA["))
            passed = pass(reader, "]]>");
        else if (starts_with(reader, "?"))
            passed = pass(reader, "?>");
        else if (starts_with(reader, "!"))
            passed = pass_declaration(reader);
        else
            return read_tag(reader, tag);
        if (!passed)
            return false;
    }
}

bool psfm_xml_is(psfm_xml_word word, const char *text) {
    return strlen(text) == word.size && memcmp(word.text, text, word.size) == 0;
}

/* The next name="value" of a tag; false if there is none. */
static bool next_attribute(psfm_xml_word *rest, psfm_xml_word *name, psfm_xml_word *value) {
    const char *at = rest->text, *end = rest->text + rest->size;
    while (at < end && is_space(*at))
        ++at;
    name->text = at;
    while (at < end && *at != '=' && !is_space(*at))
        ++at;
    name->size = (size_t)(at - name->text);
    while (at < end && *at != '"' && *at != '\'')
        ++at;
    const char *close = at < end ? memchr(at + 1, *at, (size_t)(end - at - 1)) : NULL;
    if (close == NULL)
        return false;
    *value = (psfm_xml_word){at + 1, (size_t)(close - at - 1)};
    *rest = (psfm_xml_word){close + 1, (size_t)(end - close - 1)};
    return true;
}

bool psfm_xml_attribute(const psfm_xml_tag *tag, const char *name, psfm_xml_word *value) {
    psfm_xml_word rest = tag->attributes, found, text;
    while (next_attribute(&rest, &found, &text))
        if (psfm_xml_is(found, name)) {
            *value = text;
            return true;
        }
    return false;
}
