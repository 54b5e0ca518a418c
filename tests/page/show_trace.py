#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Opens a file of --trace in tests/page/trace.html by Chromium without a window, and prints the page's
verdict; exits with 0 for PASS, 1 for what is wrong, 77 where there is no Chromium. With PICTURE it also
takes a picture of the page, WIDTH pixels wide (1280).

    python3 -B tests/page/show_trace.py TRACE [PICTURE.png [WIDTH]]
"""

import html
import os
import re
import shutil
import subprocess
import sys
import tempfile

PAGE = os.path.join(os.path.dirname(os.path.realpath(__file__)), "trace.html")
EMPTY = '<script type="application/json" id="trace"></script>'
GUARD_S = 200  # only a hang lasts so long


def find_browser():
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def page_with(trace):
    """The page with the trace in it: Chromium lets a page read no file beside it."""
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    with open(trace, encoding="utf-8") as file:
        # Would end the script, or begin a comment in it; the same text in JSON.
        content = file.read().replace("<", "\\u003c")
    assert page.count(EMPTY) == 1
    return page.replace(EMPTY, EMPTY.replace("></", f">{content}</"))


def run(browser, folder, *arguments):
    """What the page has become. Settings, caches and the like stay in the folder."""
    own = {"HOME": folder, "TMPDIR": folder, "XDG_RUNTIME_DIR": folder}
    command = [browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
    quiet = ["--no-first-run", "--disable-background-networking", "--disable-component-update"]
    done = subprocess.run(
        [*command, *quiet, f"--user-data-dir={folder}/profile", *arguments, f"file://{folder}/page.html"],
        capture_output=True, text=True, timeout=GUARD_S, check=False, env=os.environ | own,
    )
    if done.returncode != 0:
        sys.exit(f"{browser}: exit {done.returncode}\n{done.stderr[-2000:]}")
    return done.stdout


def open_page(browser, trace, picture=None, width=1280):
    """(what the page says of the trace, the page as it was drawn)"""
    # In /tmp whatever TMPDIR says: Chromium has a socket there, whose path is short by design.
    with tempfile.TemporaryDirectory(prefix="xferbench-", dir="/tmp", ignore_cleanup_errors=True) as folder:
        with open(os.path.join(folder, "page.html"), "w", encoding="utf-8") as file:
            file.write(page_with(trace))
        shown = run(browser, folder, f"--window-size={width},900", "--dump-dom")
        if picture is not None:
            run(browser, folder, f"--window-size={width},900", f"--screenshot={os.path.abspath(picture)}")
    verdict = re.search(r'<p id="verdict">(.*?)</p>', shown, re.DOTALL)
    return html.unescape(verdict[1]) if verdict else "FAIL\nthe page has no verdict", shown


def main():
    if len(sys.argv) not in (2, 3, 4):
        sys.exit(__doc__)
    browser = find_browser()
    if browser is None:
        print("no Chromium here")
        sys.exit(77)
    said, _ = open_page(browser, sys.argv[1], *sys.argv[2:])
    print(said)
    sys.exit(0 if said.startswith("PASS") else 1)


if __name__ == "__main__":
    main()
