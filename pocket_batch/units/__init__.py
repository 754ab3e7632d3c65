"""The store of a data set: its files, and the tar files of its units."""
