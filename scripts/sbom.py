#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: sbom.py VERSION SECONDS FILE...

Prints the parts of the FILEs of a release: a software bill of materials (CycloneDX 1.5, JSON). It reads the
libraries of a bundle from the bundle's README, from the table below "Libraries that it brings along".
Packages for distributions contain no libraries but CUDA's runtime, if they were built with it, so it lists
no others for them. SECONDS since 1970 is the
document's time, which is the commit's: the same files make the same document.
"""
import datetime
import hashlib
import json
import os
import re
import sys
import tarfile
import uuid

HEADING = "Libraries that it brings along"
ROW = re.compile(r"^    (?P<name>\S+) +(?P<how>part|file) +(?P<version>of \S+|\S+) +(?P<licence>\S.*)$")
# What the table says, as an expression of SPDX. Anything else is given as it stands.
EXPRESSIONS = {
    "Apache-2.0": "Apache-2.0",
    "BSD-2-Clause": "BSD-2-Clause",
    "BSD-3-Clause": "BSD-3-Clause",
    "BSD-3-Clause or GPL-2.0": "BSD-3-Clause OR GPL-2.0-only",
    "GPL-3.0 with GCC exception": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "LGPL-2.1-or-later": "LGPL-2.1-or-later",
    "MIT": "MIT",
    "public domain": "blessing",  # SQLite
    "Zlib": "Zlib",
    "MIT or LGPL-2.1": "MIT OR LGPL-2.1-or-later",  # liburing, as Debian's copyright file has it
}


def sha256(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def licences(words):
    if words in EXPRESSIONS:
        return [{"expression": EXPRESSIONS[words]}]
    return [{"license": {"name": words}}]


def read_bundle(path):
    """(its README, the paths of licences' texts in it); the README is None for a tarball that is no bundle."""
    with tarfile.open(path) as archive:
        names = archive.getnames()
        readmes = [name for name in names if re.fullmatch(r"(\./)?[^/]+/README", name)]
        text = archive.extractfile(readmes[0]).read().decode("utf-8") if readmes else ""
    return (text if HEADING in text else None), [name for name in names if "/licences/" in name]


def read_libraries(path):
    """The rows of its table, with what it has of the licences' texts; none for what is no bundle."""
    readme, texts = read_bundle(path)
    if readme is None:
        return []
    rows = []
    for line in readme.split(HEADING, 1)[1].split("\n")[1:]:
        row = ROW.match(line)
        if row:
            key = row["name"].split(".")[0]
            own = sorted(text.split("/", 1)[1] for text in texts if os.path.basename(text).startswith(key + "-"))
            rows.append(row.groupdict() | {"texts": tuple(own)})
        elif line.startswith("    "):
            sys.exit(f"sbom.py: {path}: cannot read this row of the README: {line.strip()}")
        elif line.strip():
            break  # the sentences below the table
    if not rows:
        sys.exit(f"sbom.py: {path}: its README names no library, and xferbench cannot be linked without any")
    return rows


def library_component(row, packages):
    return {
        "type": "library",
        "bom-ref": f"{row['name']}@{row['version']}",
        "name": re.sub(r"\.(a|so).*$", "", row["name"]),
        "version": row["version"],
        "licenses": licences(row["licence"]),
        "properties": [
            {"name": "xferbench:file", "value": row["name"]},
            {"name": "xferbench:linked", "value": "static" if row["how"] == "part" else "shared"},
        ]
        + [{"name": "xferbench:package", "value": package} for package in packages]
        + [{"name": "xferbench:licence-text", "value": text} for text in row["texts"]],
    }


def file_component(path):
    return {
        "type": "file",
        "bom-ref": os.path.basename(path),
        "name": os.path.basename(path),
        "hashes": [{"alg": "SHA-256", "content": sha256(path)}],
    }


def libraries_of(paths):
    """Each library once, with the packages that it is in."""
    found = {}
    for path in paths:
        for row in read_libraries(path) if path.endswith(".tar.gz") else []:
            found.setdefault(tuple(sorted(row.items())), []).append(os.path.basename(path))
    if not found:
        sys.exit("sbom.py: none of the files is a bundle, which says what xferbench is linked with")
    names = [os.path.basename(path) for path in paths if path.endswith((".deb", ".rpm"))]
    others = [name for name in names if not name.startswith("xferbench-doc")]
    components = []
    for row, bundles in sorted(found.items()):
        in_all = dict(row)["name"].startswith("libcudart_static")
        components.append(library_component(dict(row), sorted(bundles) + (sorted(others) if in_all else [])))
    return components


def make_document(version, seconds, paths):
    own = {
        "type": "application",
        "bom-ref": f"xferbench@{version}",
        "name": "xferbench",
        "version": version,
        "licenses": [{"license": {"id": "Apache-2.0"}}],
        "purl": f"pkg:generic/xferbench@{version}",
    }
    libraries = libraries_of(paths)
    files = [file_component(path) for path in sorted(paths)]
    # A name for the document that only these files have.
    seed = "\n".join(f"{file['hashes'][0]['content']}  {file['name']}" for file in files)
    time = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, seed)}",
        "version": 1,
        "metadata": {
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "tools": {"components": [{"type": "application", "name": "scripts/sbom.py", "version": version}]},
            "component": own,
        },
        "components": libraries + files,
        "dependencies": [
            {"ref": own["bom-ref"], "dependsOn": sorted({library["bom-ref"] for library in libraries})}
        ],
    }


def main(arguments):
    if len(arguments) < 3 or not arguments[1].isdigit():
        print(__doc__, file=sys.stderr)
        return 2
    document = make_document(arguments[0], int(arguments[1]), arguments[2:])
    references = [component["bom-ref"] for component in document["components"]]
    if len(set(references)) != len(references):
        sys.exit("sbom.py: two bundles have a library of the same name and release under different terms")
    print(json.dumps(document, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
