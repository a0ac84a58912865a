"""The command that prints the JSON Schemas of the files that this project writes."""

from __future__ import annotations

import argparse
import sys

from harness.commands.shared import AS_EXPECTED, note, write_file


def schema(options: argparse.Namespace) -> int:
    """Print a schema, list all schemas, or write them to a folder."""
    from tabulate import tabulate

    from harness.schemas.documents import DOCUMENTS, file_name, schema_text

    if options.output:
        names = [options.name] if options.name else list(DOCUMENTS)
        for name in names:
            write_file(options.output / file_name(name), schema_text(name))
        note(f"Wrote {', '.join(map(file_name, names))} to {options.output}")
    elif options.name:
        sys.stdout.write(schema_text(options.name))
    else:
        print(tabulate([(name, of.about) for name, of in DOCUMENTS.items()], ["schema", "file"]))
    return AS_EXPECTED
