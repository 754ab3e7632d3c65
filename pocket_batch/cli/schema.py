"""Print the JSON Schema of a kind of YAML file, for editors and other programs.

examples:
  pocket-batch schema job > job.schema.json
  # yaml-language-server: $schema=job.schema.json      first line of a job file, for your editor
"""

import argparse
import json

from pocket_batch.config import SCHEMAS, json_schema


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "kind", choices=list(SCHEMAS), nargs="?", default="job", help="default: job"
    )


def run(args: argparse.Namespace) -> int:
    """Print it."""
    print(json.dumps(json_schema(args.kind), indent=1))
    return 0
