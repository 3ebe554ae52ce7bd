/* A double is m 2^e with 53 bits of m. Its 17 digits are the integer nearest to m 10^k 2^e, ties to
 * the even one; for numbers from 1e-4 to 1e15 k is 2 to 20, so that m 10^k has 120 bits at most and
 * e is from -66 to -3: the product is exact, and the shift tells how to round. */
#include "core/base/print_number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define DIGITS 17
#define MANTISSA_BITS 52

size_t psfm_print_count(uint64_t n, char out[PSFM_NUMBER_CHARS]) {
    char reversed[20];
    size_t num = 0;
    do {
        reversed[num++] = (char)('0' + n % 10);
        n /= 10;
    } while (n > 0);
    for (size_t k = 0; k < num; ++k)
        out[k] = reversed[num - 1 - k];
    out[num] = '\0';
    return num;
}

#if defined(__SIZEOF_INT128__)

__extension__ typedef unsigned __int128 wide;

/* The integer nearest to x 10^k. */
static uint64_t scale_by_power(double x, int k) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    int shift = 1023 + MANTISSA_BITS - (int)(bits >> MANTISSA_BITS);
    const uint64_t implied = UINT64_C(1) << MANTISSA_BITS;
    wide product = (bits & (implied - 1)) | implied;
    for (; k >= 10; k -= 10)
        product *= UINT64_C(10000000000);
    for (; k > 0; --k)
        product *= 10;
    wide whole = product >> shift, rest = product - (whole << shift), half = (wide)1 << (shift - 1);
    uint64_t digits = (uint64_t)whole;
    return digits + (rest > half || (rest == half && (digits & 1) != 0));
}

/* Puts the digits about the decimal point; those after it end with one that is not 0. */
static size_t place_digits(uint64_t digits, int exponent, char *out) {
    char text[PSFM_NUMBER_CHARS], *end = out;
    psfm_print_count(digits, text);
    size_t num = DIGITS, before = exponent < 0 ? 0 : (size_t)exponent + 1;
    while (num > before && num > 1 && text[num - 1] == '0')
        --num;
    if (before == 0) {
        memcpy(end, "0.000", (size_t)(1 - exponent));
        end += 1 - exponent;
    }
    memcpy(end, text, before);
    end += before;
    if (before > 0 && num > before)
        *end++ = '.';
    memcpy(end, text + before, num - before);
    end += num - before;
    *end = '\0';
    return (size_t)(end - out);
}

static size_t print_plain(double x, char *out) {
    const uint64_t least = UINT64_C(10000000000000000); /* of 17 digits */
    int exponent = -4;
    double power = 1e-3;
    while (exponent < 15 && x >= power) {
        power *= 10.0;
        ++exponent;
    }
    uint64_t digits = scale_by_power(x, DIGITS - 1 - exponent);
    if (digits >= 10 * least) /* rounded up to another digit, or the power was not exact */
        digits = scale_by_power(x, DIGITS - 1 - ++exponent);
    else if (digits < least)
        digits = scale_by_power(x, DIGITS - 1 - --exponent);
    return place_digits(digits, exponent, out);
}

#endif

size_t psfm_print_double(double x, char out[PSFM_NUMBER_CHARS]) {
#if defined(__SIZEOF_INT128__)
    if (fabs(x) >= 1e-4 && fabs(x) < 1e15) {
        out[0] = '-';
        size_t sign = x < 0.0;
        return sign + print_plain(fabs(x), out + sign);
    }
#endif
    return (size_t)snprintf(out, PSFM_NUMBER_CHARS, "%.17g", x);
}
