#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Command lines that are wrong.
usage: test_usage.py BUILD_FOLDER [UNITTEST_ARGUMENT...]
"""

import os

import harness
from harness import HOST, MODES, SMALL, Case


class Usage(Case):
    """Every way to get the command line wrong: exit 2, and a message that helps."""

    def test_nearest_match(self):
        for words, arguments in (
            (("unknown option --sise", "--size"), ("--sise", "4K")),
            (("unknown option --sise", "--size"), ("--sise=4K",)),
            (("unknown option --host-memroy", "--host-memory"), ("--host-memroy", "alloc")),
            (("unknown option --jsno", "--json"), ("list", "--jsno", "-")),
            (("mode 'pined'", "'pinned'"), (*HOST, "--mode", "pined")),
            (("mode 'asinc'", "'async'"), (*HOST, "--mode", "pinned,asinc")),
            (("mode 'Pinned'", "'pinned'"), (*HOST, "--mode", "Pinned")),
            (('"h2f"', '"h2d"'), (*HOST, "--direction", "h2f")),
            (('"D2H"', '"d2h"'), (*HOST, "--direction", "D2H")),
            (('"bidri"', '"bidir"'), (*HOST, "--direction", "bidri")),
            (("unknown option --latancy", "--latency"), ("--latancy",)),
            (("unknown option --gpus", "mean --device?"), ("--gpus", "0")),
            (("unknown option --gpu", "mean --device?"), ("advise", "--gpu=0")),
            (("unknown option --runs", "mean --samples or --processes?"), ("--runs", "3")),
            (("unknown option --output", "mean --json or --csv?"), ("--output", "x")),
            (("unknown option --verbose", "mean --json?"), ("advise", "--verbose")),
            (("unknown option --colour", "mean --color?"), ("help", "--colour")),
            (('--color: unknown word "alwys"', '"always"'), ("list", "--color", "alwys")),
            (("unknown option --deadlin-", "--deadline"), ("--deadlin-", "1s")),
            (("mode 'double-bufer'", "'double-buffer'"), (*HOST, "--mode", "double-bufer")),
            (("mode 'zerocopy'", "'zero-copy'"), (*HOST, "--mode", "zerocopy")),
            (('"seqential"', '"sequential"'), (*HOST, "--access", "seqential")),
            (('"prefech"', '"prefetch"'), (*HOST, "--managed", "prefech")),
            (('"direct-raed"', '"direct-read"'), (*HOST, "--peer-path", "direct-raed")),
            (('"alocc"', '"alloc"'), (*HOST, "--host-memory", "alocc")),
            (('"registred"', '"registered"'), (*HOST, "--host-memory", "alloc,registred")),
            (("backend 'hots'", "'host'"), ("--backend", "hots")),
            (("backend 'cud'", "'cuda'"), ("--backend", "cud")),
            (("command 'lsit'", "'list'"), ("lsit",)),
            (("command 'rnu'", "'run'"), ("rnu", *SMALL)),
            (("--help", "word 'pined'", "'pinned'"), ("--help", "pined")),
            (("--help", "word 'asyn'", "'async'"), ("run", "--help", "asyn")),
        ):
            with self.subTest(arguments=arguments):
                self.assert_usage(("did you mean", *words), *arguments)

    def test_nothing_is_near(self):
        for words, arguments in (
            (("unknown option --frobnicate",), ("--frobnicate",)),
            (("unknown option -z",), ("-z",)),
            (("unknown option -z",), ("-qz",)),
            (("0xC3",), ("-\u00e4",)),
            (("'frobnicate'", "auto", "cuda", "hip", "host"), ("--backend", "frobnicate")),
            (("'frobnicate'", *MODES, "all"), (*HOST, "-m", "frobnicate")),
            (
                ('"frobnicate"', "h2d", "d2h", "both", "bidir", "d2d"),
                (*HOST, "-d", "frobnicate"),
            ),
            (
                ('"frob"', "registered", "alloc", "write-combined", "pageable"),
                (*HOST, "--host-memory", "frob"),
            ),
            (('"fnord"', "sequential", "strided", "random"), (*HOST, "--access", "fnord")),
            (('"xyz"', "fault", "prefetch", "advise"), (*HOST, "--managed", "xyz")),
            (('"xyz"', "direct-read", "direct-write", "staged"), (*HOST, "--peer-path", "xyz")),
            (("'frobnicate'", "run", "list"), ("frobnicate",)),
            (("''", "run", "list"), ("",)),
            (("'frobnicate'", "--help"), ("--help", "frobnicate")),
        ):
            with self.subTest(arguments=arguments):
                outcome = self.assert_usage(words, *arguments)
                self.assertNotIn("did you mean", outcome.err)

    def test_word_in_the_wrong_place(self):
        """A mode, an option or a command where another one stands: the message writes it as it is right."""
        for words, arguments in (
            (("'pinned' is a mode: xferbench --mode pinned",), ("pinned",)),
            (("'pinned' is a mode: xferbench --mode pinned",), ("run", "pinned")),
            (("'async' is a mode: xferbench --mode async",), ("--size", "4K", "async")),
            (("did you mean the mode 'pinned': xferbench --mode pinned?",), ("pined",)),
            (("'version' is an option: xferbench --version",), ("version",)),
            (("'size' is an option: xferbench --size SIZE",), ("size",)),
            (("'list' is a command, not an option: xferbench list",), ("--list",)),
            (("'pinned' is a mode, not an option: xferbench --mode pinned",), ("--pinned", "--size", "1M")),
            (("'compare' is a command, not an option: xferbench compare",), ("--compare", "a", "b")),
            (("'list' is a command, and comes first: xferbench list",), ("--size", "4K", "list")),
            (("'4K' belongs to no option", "see xferbench help run"), ("--quiet", "4K")),
        ):
            with self.subTest(arguments=arguments):
                self.assert_usage(words, *arguments)

    def test_option_as_an_argument(self):
        """Its own argument was forgotten: nothing is measured, and no file of that name is written."""
        for option in ("json", "csv", "trace", "baseline-json", "interleave", "file"):
            for taken in ("--backend=host", "--quick", "-q", "--"):
                with self.subTest(option=option, taken=taken):
                    words = (f"--{option} needs a file; '{taken}' looks like an option", f"write ./{taken}")
                    self.assert_usage(words, *SMALL, f"--{option}", taken)
        for arguments in (("list", "--json", "-q"), ("compare", "--output", "--force", "a", "b"), ("-j", "-q")):
            with self.subTest(arguments=arguments):
                self.assert_usage((" needs a file; '", "looks like an option"), *arguments)
        for words, arguments in (
            (("--mode needs an argument (MODE[,MODE]); '--size' looks like",), ("--mode", "--size", "4K")),
            (("--size needs an argument (SIZE); '-q' looks like",), ("--size", "-q")),
            (("--kernel-time needs an argument (TIME[,TIME]); '-q' looks like",), ("--kernel-time=-q",)),
            (("--threshold needs an argument (SHARES)",), ("compare", "--threshold", "--force", "a", "b")),
            (('"-4"', "--size"), ("--size", "-4")),
        ):
            with self.subTest(arguments=arguments):
                self.assert_usage(words, *arguments)
        self.assert_folder_has()

    def test_file_named_like_an_option(self):
        self.assert_succeeds(*SMALL, "--json", "./-q")
        self.assert_folder_has("-q")
        self.assertIn("{", self.assert_succeeds(*SMALL, "--json", "-").out)

    def test_beginning_of_an_option(self):
        """--gpu was taken for --gpu-time: a name is written out."""
        words = ("unknown option --gpu; did you mean --device?",)
        self.assert_usage(words, "advise", "--in", "1M", "--out", "4K", "--gpu", "0", "--cpu-time", "50ms")
        self.assert_usage(("unknown option --s\n",), "--s", "4K")

    def test_missing_argument(self):
        names = "mode size direction device backend json csv chunk deadline pairs peer-path access by"
        for name in (*names.split(), "passes", "managed", "buffers", "kernel-time", "host-memory", "host-offset"):
            with self.subTest(name=name):
                self.assert_usage((f"--{name} needs an argument",), f"--{name}")
        self.assert_usage(("--size needs an argument",), "-s")
        self.assert_usage(("--json needs an argument",), "list", "--json")

    def test_argument_of_a_flag(self):
        for name in ("quiet", "latency", "simultaneous", "quick"):
            with self.subTest(name=name):
                self.assert_usage((f"--{name} takes no argument",), f"--{name}=yes")

    def test_empty_argument(self):
        names = "mode size direction device backend json csv host-memory pairs peer-path access by"
        for name in (*names.split(), "managed", "kernel-time", "device-offset"):
            with self.subTest(name=name):
                self.assert_usage((f"--{name}: ", "empty"), f"--{name}", "")

    def test_given_twice(self):
        for name, arguments in (
            ("size", ("--size", "1K", "--size", "2K")),
            ("size", ("-s", "1K", "--size=1K")),
            ("quiet", ("-q", "-q")),
            ("json", ("--json", "a", "--json", "b")),
            ("host-memory", ("--host-memory", "alloc", "--host-memory", "registered")),
        ):
            with self.subTest(arguments=arguments):
                self.assert_usage((f"--{name} is given twice",), *arguments)
        self.assert_folder_has()

    def test_word_named_twice(self):
        self.assert_usage(("--mode", '"pinned"', "twice"), *HOST, "--mode", "pinned,pinned")
        self.assert_usage(("--direction", "twice"), *HOST, "--direction", "h2d,h2d")
        self.assert_usage(("--device", "twice"), *HOST, "--device", "0,0")
        self.assert_usage(("--device", "device 0", "twice"), *HOST, "--device", "0,00")
        self.assert_usage(("--mode", "empty"), *HOST, "--mode", "pinned,,async")

    def test_all_beside_others(self):
        """'all' is among the modes that the message offers, so it must not be called unknown."""
        for option in ("--mode", "--device"):
            with self.subTest(option=option):
                other = {"--mode": "pinned", "--device": "0"}[option]
                outcome = self.run_program(*HOST, option, f"all,{other}", "--size", "100T")
                self.assertEqual(outcome.code, 2, outcome)
                self.assertNotRegex(outcome.err, "no (mode|device) 'all'|has no device 'all'")

    def test_stray_operand(self):
        for words, arguments in (
            (("'pinned'", "--mode"), ("run", "pinned")),
            (("'1G'",), (*SMALL, "1G")),
            (("'1G'",), ("--quiet", "--", "1G")),
        ):
            with self.subTest(arguments=arguments):
                self.assert_usage(words, *arguments)

    def test_stray_operand_of_others(self):
        """They are told of no option that they lack."""
        for arguments in (("list", "devices"), ("link", "--expect", "gen5", "x16")):
            with self.subTest(arguments=arguments):
                outcome = self.run_program(*arguments)
                self.assert_words(outcome.err, (f"'{arguments[-1]}'", f"xferbench help {arguments[0]}"), outcome)
                self.assertNotIn("--mode", outcome.err)

    def test_stray_operand_of_help(self):
        self.assert_usage(("'async'",), "--help", "pinned", "async")

    def test_option_of_another_command(self):
        self.assert_usage(("unknown option --size",), "list", "--size", "4K")

    def test_sizes(self):
        accepted = ("64K", "KiB", "KB", "powers of 1000", "2^63")
        for size, words in (
            ("0", ("is zero", *accepted)),
            ("0K", ("is zero",)),
            ("0..4K", ("is zero",)),
            ("-1", ("not a decimal number", *accepted)),
            ("-4K", ("not a decimal number",)),
            ("+4K", ("not a decimal number",)),
            (" 4K", ("not a decimal number",)),
            ("four", ("not a decimal number",)),
            ("K", ("not a decimal number",)),
            (".5K", ("not a decimal number",)),
            ("5.", ("not a decimal number",)),
            ("inf", ("not a decimal number",)),
            ("4Q", ("unknown suffix",)),
            ("4 K", ("unknown suffix",)),
            ("4KK", ("unknown suffix",)),
            ("0x10", ("unknown suffix",)),
            ("1e3", ("unknown suffix",)),
            ("1.5", ("not a whole number of bytes",)),
            ("1.5B", ("not a whole number of bytes",)),
            ("0.0001K", ("not a whole number of bytes",)),
            ("9999999T", ("too large", *accepted)),
            ("8388608T", ("too large",)),
            ("9223372036854775808", ("too large",)),
            ("18446744073709551617", ("too large",)),
            ("99999999999999999999999999999999", ("too large",)),
            ("1K,2K..9999999T", ("too large",)),
            ("1K,", ("empty place",)),
            (",", ("empty place",)),
            ("1K,,2K", ("empty place",)),
            ("4K..1K", ("runs backwards",)),
            ("1K..", ("lacks a size",)),
            ("..1K", ("lacks a size",)),
            ("1K,1024", ("1 KiB is named twice",)),
            ("1K..8K,4K", ("4 KiB is named twice",)),
        ):
            with self.subTest(size=size):
                self.assert_usage(("--size: ", *words), *HOST, "--size", size)

    def test_size_is_quoted(self):
        self.assert_usage(('"4Q"',), *HOST, "--size", "4Q")
        # A text that is far too long must not push what is wrong with it out of the message.
        self.assert_usage(("unknown suffix", "64K"), *HOST, "--size", "4" + "Q" * 5000)

    def test_counts(self):
        for option, least, most in (
            ("samples", 1, 1000000),
            ("streams", 1, 64),
            ("buffers", 2, 32),
            ("passes", 1, 1000),
        ):
            words = (f"--{option}", f"from {least} to {most}")
            outside = ("18446744073709551617", f"{most}1", str(most + 1), str(least - 1))
            for value in ("0", "-1", "+1", " 1", "1.5", "1e1", "x", *outside):
                with self.subTest(option=option, value=value):
                    self.assert_usage((*words, f'"{value}"'), *HOST, f"--{option}", value)

    def test_chunk(self):
        for value, word in (("0", "zero"), ("-1", "decimal"), ("9999999T", "large"), ("1K,1K", "twice"), ("1K..", "range")):
            with self.subTest(value=value):
                self.assert_usage(("--chunk: ", word), *HOST, "--mode", "async", "--chunk", value)

    def test_durations(self):
        for value, word in (
            ("0", "is zero"),
            ("0ms", "is zero"),
            ("-1s", "not a decimal number"),
            ("inf", "not a decimal number"),
            ("nan", "not a decimal number"),
            ("1h", "unknown unit"),
            ("1 s", "unknown unit"),
            ("99999999999999999999", "too large"),
        ):
            with self.subTest(value=value):
                for option in ("--time-limit", "--deadline"):
                    words = (f"{option}: ", word, "ns, us, ms, s or m")
                    self.assert_usage(words, *HOST, option, value)

    def test_option_that_no_chosen_mode_takes(self):
        for option, value, mode in (
            ("--streams", "2", "pinned"),
            ("--chunk", "1M", "pageable,pinned"),
            ("--host-memory", "alloc", "pageable"),
            ("--host-memory", "registered", "pageable,zero-copy,managed,peer"),
            ("--host-offset", "1", "zero-copy,managed"),
            ("--device-offset", "1", "double-buffer"),
            ("--pairs", "0:1", "pinned"),
            ("--peer-path", "staged", "async"),
            ("--by", "engine", "zero-copy"),
            ("--access", "random", "pinned"),
            ("--passes", "2", "double-buffer"),
            ("--managed", "fault", "zero-copy"),
            ("--buffers", "2", "async"),
            ("--kernel-time", "none", "zero-copy"),
        ):
            with self.subTest(option=option, mode=mode):
                arguments = (*HOST, "--mode", mode, option, value)
                self.assert_usage((f"{option} has no effect", "--help MODE"), *arguments)

    def test_device_that_is_not_there(self):
        for device in ("1", "7", "99999999999999999999", "-1", "0000:0f:00.0", "0f:00.0", "GPU-0"):
            with self.subTest(device=device):
                outcome = self.assert_usage(("--device", f"'{device}'"), *HOST, "--device", device)
                self.assertRegex(outcome.err, r"devices are: 0 .*\w", outcome)

    def test_pairs(self):
        """The host backend has one device, so every pair is wrong in one way or another."""
        for pairs, words in (
            ("x", ('"x"', "not a pair", "source:destination")),
            ("0", ('"0"', "not a pair")),
            (":", ("no device ''",)),
            ("0:", ("no device ''",)),
            (":0", ("no device ''",)),
            ("0:1:2", ('"0:1:2"', "not a pair")),
            ("0-1", ('"0-1"', "not a pair")),
            ("-1:0", ('"-1:0"', "not a pair")),
            ("00000000000000000000:0", ("not a pair",)),
            ("0:0", ("0:0", "one device, not two")),
            ("0:00", ("one device, not two",)),
            ("0:1", ("no device '1'",)),
            ("1:0", ("no device '1'",)),
            ("0:99999999999999999999", ("no device '99999999999999999999'",)),
            ("0:1,0:1", ("--pairs", '"0:1"', "twice")),
            ("0:1,", ("--pairs", "empty")),
        ):
            with self.subTest(pairs=pairs):
                self.assert_usage(words, *HOST, "--mode", "peer", "--pairs", pairs)

    def test_direction_that_a_mode_does_not_have(self):
        """Named modes are not left out in silence; where all are meant, some may be."""
        for direction, mode, refused in (
            ("h2d", "peer", "peer"),
            ("both", "peer", "peer"),
            ("h2d", "pinned,peer", "peer"),
            ("h2d", "double-buffer", "double-buffer"),
            ("bidir", "pageable", "pageable"),
            ("bidir", "async,managed", "managed"),
            ("bidir", "managed", "managed"),
            ("d2d", "pinned", "pinned"),
            ("d2d", "peer,async", "async"),
        ):
            with self.subTest(direction=direction, mode=mode):
                words = (f"--direction {direction}", f"{refused} does not go", f"--help {refused}")
                self.assert_usage(words, *HOST, "--mode", mode, "--direction", direction)

    def test_simultaneous_with_what_cannot_be(self):
        words = ("--simultaneous", "bandwidth", "--latency")
        self.assert_usage(words, *HOST, "--simultaneous", "--latency")
        words = ("--simultaneous", "starts several devices together", "pinned, async, zero-copy or peer d2d")
        for mode in ("pageable", "double-buffer", "managed"):
            with self.subTest(mode=mode):
                self.assert_usage(words, *HOST, "--simultaneous", "--mode", mode)

    def test_two_outputs_for_one_place(self):
        self.assert_usage(("--json - and --csv -",), *SMALL, "--json", "-", "--csv", "-")
        self.assert_usage(("same file",), *SMALL, "--json", "out", "--csv", "out")
        self.assert_folder_has()

    def test_two_outputs_for_one_place_by_other_names(self):
        """One would silently replace the other."""
        self.put_old("old")
        os.symlink("old", self.path("link"))
        for one, other in (("new", "./new"), ("new", self.path("new")), ("old", "link")):
            with self.subTest(one=one, other=other):
                self.assert_usage(("same file",), *SMALL, "--json", one, "--csv", other)
                self.assert_old("old")
                self.assert_folder_has("old", "link")


if __name__ == "__main__":
    harness.main()
