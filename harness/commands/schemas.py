"""The command that publishes the JSON Schema of every file that is written."""

from __future__ import annotations

import argparse
import sys

from harness.commands.shared import AS_EXPECTED, note, write_file


def schema(options: argparse.Namespace) -> int:
    """Prints a schema, lists them all, or writes them."""
    from tabulate import tabulate

    from harness.schemas.documents import DOCUMENTS, file_name, schema_text

    if options.output:
        names = [options.name] if options.name else list(DOCUMENTS)
        for name in names:
            write_file(options.output / file_name(name), schema_text(name))
        note(f"Written to {options.output}: {', '.join(map(file_name, names))}")
    elif options.name:
        sys.stdout.write(schema_text(options.name))
    else:
        print(tabulate([(name, of.about) for name, of in DOCUMENTS.items()], ["schema", "of"]))
    return AS_EXPECTED
