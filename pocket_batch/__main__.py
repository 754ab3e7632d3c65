"""`python -m pocket_batch` is the command `pocket-batch`."""

import sys

from pocket_batch.cli.main import main

sys.exit(main())
