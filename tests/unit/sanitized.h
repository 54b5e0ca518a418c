/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Which sanitizers the tests are compiled with, if any. They make what a test computes several
 * times slower: where only the amount counts, a test does less of it then. */

#ifdef __has_feature /* clang */
#if __has_feature(address_sanitizer)
#define IS_SANITIZED true
#elif __has_feature(thread_sanitizer)
#define IS_SANITIZED true
#define HAS_THREAD_SANITIZER true
#endif
#endif
#ifdef __SANITIZE_ADDRESS__ /* gcc */
#define IS_SANITIZED true
#endif
#ifdef __SANITIZE_THREAD__
#define IS_SANITIZED true
#define HAS_THREAD_SANITIZER true
#endif

#ifndef IS_SANITIZED
#define IS_SANITIZED false
#endif
#ifndef HAS_THREAD_SANITIZER
#define HAS_THREAD_SANITIZER false
#endif
