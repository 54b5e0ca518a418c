/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* cmocka, behind the headers that it needs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* The parameter of a test that has no use for cmocka's state. */
#define NO_STATE __attribute__((unused)) void **state
