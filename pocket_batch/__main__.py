"""`python -m pocket_batch` is the program `pocket-batch`."""

from pocket_batch.cli.main import program

program()
