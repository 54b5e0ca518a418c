# SPDX-License-Identifier: Apache-2.0
"""extract_example.py MARKDOWN OUTPUT: joins the ```c blocks of a document into one source file."""

import re
import sys

source, target = sys.argv[1:]
with open(source, encoding="utf-8") as document:
    blocks = re.findall(r"^```c\n(.*?)^```$", document.read(), re.MULTILINE | re.DOTALL)
if not blocks:
    sys.exit(f"{source}: no C example")
with open(target, "w", encoding="utf-8") as output:
    output.write("\n".join(blocks))
