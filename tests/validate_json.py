#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Validates JSON files: validate_json.py SCHEMA FILE...

A schema may refer to another one's $id: both stand in one folder, as *.schema.json.
Prints every error with its JSON path and exits with 1 if there is any. Refuses what Python's reader
would let pass: NaN and Infinity, numbers too large to hold, duplicate keys, text that is no UTF-8.
"""

import glob
import json
import math
import os
import sys

try:
    import jsonschema
except ImportError:
    if __name__ != "__main__":
        raise
    print("left out: no python3-jsonschema")
    sys.exit(77)  # what CTest is told to take for "skipped"


def object_without_duplicates(pairs):
    keys = [key for key, _ in pairs]
    for key in keys:
        if keys.count(key) > 1:
            raise ValueError(f"duplicate key {key!r}")
    return dict(pairs)


def refuse_constant(text):
    raise ValueError(f"{text} is no JSON number")


def finite(text):
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text} is too large a number")
    return value


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(
            file,
            object_pairs_hook=object_without_duplicates,
            parse_constant=refuse_constant,
            parse_float=finite,
        )


def with_references(schema, change):
    """A copy in which every reference is what change() makes of it."""
    if isinstance(schema, list):
        return [with_references(item, change) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {key: change(value) if key == "$ref" else with_references(value, change) for key, value in schema.items()}


def validator_of(path):
    """With the schemas beside it that it refers to put into it: releases of jsonschema differ in how
    they find one from another."""
    schema = load(path)
    jsonschema.Draft202012Validator.check_schema(schema)
    for other in glob.glob(os.path.join(os.path.dirname(path), "*.schema.json")):
        inner = load(other)
        identity = inner.pop("$id")
        if f'"{identity}' not in json.dumps(schema) or identity == schema["$id"]:
            continue
        place = "#/$defs/" + identity.replace(":", "-")
        schema = with_references(
            schema, lambda to, i=identity, p=place: to.replace(i + "#", p).replace(i, p) if to.startswith(i) else to
        )
        schema["$defs"][place[len("#/$defs/"):]] = with_references(inner, lambda to, p=place: to.replace("#", p, 1))
    return jsonschema.Draft202012Validator(schema)


def errors_of(validator, path):
    try:
        document = load(path)
    except (OSError, ValueError) as error:
        return [f"{path}: {error}"]
    errors = sorted(validator.iter_errors(document), key=lambda error: error.json_path)
    return [f"{path}: {error.json_path}: {error.message[:400]}" for error in errors]


def main(arguments):
    if len(arguments) < 2:
        print("usage: validate_json.py SCHEMA FILE...", file=sys.stderr)
        return 2
    if not hasattr(jsonschema, "Draft202012Validator"):
        print("left out: python3-jsonschema is older than 4.0", file=sys.stderr)
        return 77
    validator = validator_of(arguments[0])
    errors = [error for path in arguments[1:] for error in errors_of(validator, path)]
    for error in errors:
        print(error, file=sys.stderr)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
