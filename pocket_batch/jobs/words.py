"""Numbers as people read them, from the place below that other parts take them from as well."""

from pocket_batch.words import duration as duration
from pocket_batch.words import plural as plural
from pocket_batch.words import size as size
