/* SPDX-License-Identifier: Apache-2.0 */
/* strtod and printf round correctly but write the point as the locale wants it. Reading therefore brings the number
 * into the form "digits e exponent", which has no point, before strtod sees it. The copy is bounded however long the
 * text is: whether a decimal lies above, on or below the middle between two doubles is settled by its first 767
 * significant digits and by whether anything but zeros follows, so that one more digit stands for the rest. */
#include "base/number.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS = 768, EXPONENT_LIMIT = 1000000000 };

/* 0.d1 d2 d3 ... x 10^exponent without leading or trailing zeros; n 0: zero. */
typedef struct decimal {
    bool negative;
    bool more; /* something beyond `digits` is not zero */
    int n;
    int64_t exponent;
    char digits[DIGITS];
} decimal;

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* Takes digits and a point; the number of bytes taken, 0 if there was no digit. */
static size_t scan_mantissa(const char *bytes, size_t n, decimal *d) {
    size_t i = 0, n_digits = 0;
    bool point = false;
    for (; i < n; i++) {
        if (bytes[i] == '.' && !point) {
            point = true;
            continue;
        }
        if (!is_digit(bytes[i])) break;
        n_digits++;
        if (d->n == 0 && bytes[i] == '0') {
            d->exponent -= point;
            continue;
        }
        d->exponent += !point;
        if (d->n < DIGITS)
            d->digits[d->n++] = bytes[i];
        else
            d->more |= bytes[i] != '0';
    }
    if (!d->more)
        while (d->n > 0 && d->digits[d->n - 1] == '0') d->n--;
    return n_digits ? i : 0;
}

/* Takes "e", a sign and digits to the end of the text. */
static bool scan_exponent(const char *bytes, size_t n, decimal *d) {
    size_t i = 1;
    bool negative = i < n && bytes[i] == '-';
    if (i < n && (bytes[i] == '-' || bytes[i] == '+')) i++;
    if (i == n) return false;
    int64_t exponent = 0;
    for (; i < n; i++) {
        if (!is_digit(bytes[i])) return false;
        /* Beyond any double whatever the mantissa of a text that fits in memory is worth. */
        if (exponent < INT64_MAX / 100) exponent = exponent * 10 + (bytes[i] - '0');
    }
    d->exponent += negative ? -exponent : exponent;
    return true;
}

static double to_double(const decimal *d) {
    char text[DIGITS + 32];
    if (d->n == 0) return d->negative ? -0.0 : 0.0;
    int64_t exponent = d->exponent;
    if (exponent > EXPONENT_LIMIT) exponent = EXPONENT_LIMIT;
    if (exponent < -EXPONENT_LIMIT) exponent = -EXPONENT_LIMIT;
    int n_digits = d->n + d->more;
    snprintf(text, sizeof text, "%s%.*s%se%d", d->negative ? "-" : "", d->n, d->digits, d->more ? "1" : "",
             (int)exponent - n_digits);
    return strtod(text, NULL);
}

static bool to_integer(const decimal *d, int64_t *out) {
    int64_t value = 0;
    if (d->n == 0) {
        *out = 0;
        return true;
    }
    if (d->more || d->exponent < d->n || d->exponent > 19) return false;
    for (int i = 0; i < d->exponent; i++) {
        int digit = i < d->n ? d->digits[i] - '0' : 0;
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, d->negative ? -digit : digit, &value))
            return false;
    }
    *out = value;
    return true;
}

bool berth_number_read(const char *bytes, size_t n, berth_number *out) {
    decimal d;
    d.negative = n > 0 && bytes[0] == '-';
    d.more = false;
    d.n = 0;
    d.exponent = 0;
    size_t at = n > 0 && (bytes[0] == '-' || bytes[0] == '+');
    size_t mantissa = scan_mantissa(bytes + at, n - at, &d);
    if (mantissa == 0) return false;
    at += mantissa;
    if (at < n && ((bytes[at] != 'e' && bytes[at] != 'E') || !scan_exponent(bytes + at, n - at, &d))) return false;
    *out = (berth_number){.value = to_double(&d)};
    out->is_integer = to_integer(&d, &out->integer);
    if (!out->is_integer) out->integer = 0;
    return true;
}

/* Whatever stands between two digits of printf's answer is the locale's point. */
static size_t mend_point(char *text) {
    size_t n = 0;
    for (const char *c = text; *c; c++) {
        if (is_digit(*c) || *c == '-' || *c == '+' || *c == 'e')
            text[n++] = *c;
        else if (n == 0 || text[n - 1] != '.')
            text[n++] = '.';
    }
    text[n] = 0;
    return n;
}

size_t berth_number_write(char text[BERTH_NUMBER_ROOM], double value) {
    size_t n = 0;
    /* Any decimal of up to 15 digits survives in a double, so that printf with 15, which drops zeros at the end, finds
     * it if there is one. Subnormal doubles hold fewer digits. */
    for (int digits = fabs(value) < DBL_MIN ? 1 : DBL_DIG; digits <= DBL_DECIMAL_DIG; digits++) {
        berth_number again = {0};
        snprintf(text, BERTH_NUMBER_ROOM, "%.*g", digits, value);
        n = mend_point(text);
        bool read = berth_number_read(text, n, &again);
        assert(read);
        (void)read;
        if (again.value == value) break;
    }
    return n;
}
