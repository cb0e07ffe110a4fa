/* The fewest insertions, deletions and replacements between two texts, in code points.
   `vespe tool build edit_distance` compiles this to tool.wasm. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    uint32_t *points;
    size_t length;
} text;

static void fail(const char *why) {
    fprintf(stderr, "%s\n", why);
    exit(1);
}

static void *room(size_t bytes) {
    void *made = malloc(bytes ? bytes : 1);
    if (!made) fail("there is no memory for texts as long as these");
    return made;
}

static char *read_all(size_t *size) {
    size_t space = 1 << 16;
    char *data = room(space);
    *size = 0;
    for (size_t got; (got = fread(data + *size, 1, space - *size - 1, stdin)) > 0;) {
        *size += got;
        if (*size + 1 == space && !(data = realloc(data, space *= 2))) fail("there is no memory for texts as long as these");
    }
    data[*size] = 0;
    return data;
}

static uint32_t four_digits(const char *at) {
    char digits[5] = {0};
    memcpy(digits, at, 4);
    return (uint32_t)strtoul(digits, NULL, 16);
}

/* Reads one escape, with `at` behind its backslash. */
static uint32_t escaped(const char **at) {
    static const char names[] = "nrtbf", values[] = "\n\r\t\b\f";
    char name = *(*at)++;
    if (name != 'u') {
        const char *known = name ? strchr(names, name) : NULL;
        return known ? (uint32_t)values[known - names] : (uint32_t)name;
    }
    uint32_t point = four_digits(*at);
    *at += 4;
    if (point >= 0xd800 && point < 0xdc00 && (*at)[0] == '\\' && (*at)[1] == 'u') {
        point = 0x10000 + ((point - 0xd800) << 10) + (four_digits(*at + 2) - 0xdc00);
        *at += 6;
    }
    return point;
}

static uint32_t decoded(const char **at) {
    unsigned char first = (unsigned char)*(*at)++;
    int more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc0 ? 1 : 0;
    uint32_t point = more ? first & (0x3fu >> more) : first;
    while (more--) point = point << 6 | ((unsigned char)*(*at)++ & 0x3f);
    return point;
}

/* Reads a string, with `at` behind its first quote; the schema has seen to it that every value is one. */
static text string(const char **at, size_t most) {
    text made = {room(most * sizeof(uint32_t)), 0};
    while (**at && **at != '"') {
        if (**at == '\\') {
            ++*at;
            made.points[made.length++] = escaped(at);
        } else {
            made.points[made.length++] = decoded(at);
        }
    }
    if (**at) ++*at;
    return made;
}

static int named(text name, const char *wanted) {
    if (name.length != strlen(wanted)) return 0;
    for (size_t i = 0; i < name.length; i++)
        if (name.points[i] != (uint32_t)wanted[i]) return 0;
    return 1;
}

static size_t distance(text before, text after) {
    size_t *row = room((after.length + 1) * sizeof(size_t));
    for (size_t j = 0; j <= after.length; j++) row[j] = j;
    for (size_t i = 1; i <= before.length; i++) {
        size_t corner = row[0];
        row[0] = i;
        for (size_t j = 1; j <= after.length; j++) {
            size_t replaced = corner + (before.points[i - 1] != after.points[j - 1]);
            size_t shorter = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            corner = row[j];
            row[j] = replaced < shorter ? replaced : shorter;
        }
    }
    return row[after.length];
}

int main(void) {
    size_t size;
    const char *at = read_all(&size);
    text before = {0}, after = {0};
    while ((at = strchr(at, '"'))) {
        ++at;
        text name = string(&at, size);
        if (!(at = strchr(at, '"'))) break;
        ++at;
        text value = string(&at, size);
        if (named(name, "before")) before = value;
        if (named(name, "after")) after = value;
    }
    size_t found = distance(before, after), longer = before.length > after.length ? before.length : after.length;
    size_t alike = longer ? (10000 * (longer - found) + longer / 2) / longer : 10000;
    printf("{\"distance\":%zu,\"similarity\":%zu.%04zu}", found, alike / 10000, alike % 10000);
    return 0;
}
