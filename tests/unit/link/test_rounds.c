/* SPDX-License-Identifier: Apache-2.0 */
#include "link/session.h"

#include "testing.h"

#define MOST 64u

TEST(every_two_devices_meet_once_and_no_device_twice_in_a_round)
{
    assert_int_equal(xb_round_count(1), 0);
    assert_int_equal(xb_round_count(9), 9);
    assert_int_equal(xb_round_count(16), 15);
    for (size_t count = 2; count <= MOST; count++) {
        unsigned met[MOST][MOST] = {{0}};
        for (size_t round = 0; round < xb_round_count(count); round++)
            for (size_t i = 0; i < count; i++) {
                size_t partner = xb_round_partner(count, round, i);
                assert_true(partner < count);
                assert_int_equal(xb_round_partner(count, round, partner), i);
                met[i][partner]++;
            }
        for (size_t i = 0; i < count; i++)
            for (size_t k = 0; k < count; k++) /* of an odd number each one rests once */
                assert_int_equal(met[i][k], i != k || count % 2 == 1);
    }
}
