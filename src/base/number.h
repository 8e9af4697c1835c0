/* SPDX-License-Identifier: Apache-2.0 */
/* Decimal numbers to and from text, the same in every locale. */
#ifndef BERTH_BASE_NUMBER_H
#define BERTH_BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct berth_number {
    double value;    /* correctly rounded; infinite where the text is beyond the range of a double */
    bool is_integer; /* the text is exactly an integer of 64 bits: also "1.0" and "2e3" ... */
    int64_t integer; /* ... namely this one; else 0 */
} berth_number;

/* All n bytes as a decimal number: optional sign, digits with an optional point (at least one digit), optional
 * exponent. False, and *out is untouched, if they are anything else; blanks, "inf", "nan" and hexadecimal are. */
bool berth_number_read(const char *bytes, size_t n, berth_number *out);

enum { BERTH_NUMBER_ROOM = 32 };
/* The finite value with the fewest significant digits that read back the same, and a NUL. Returns its length. */
size_t berth_number_write(char text[BERTH_NUMBER_ROOM], double value);

#endif
