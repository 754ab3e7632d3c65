"""Samples in numpy: loudness, joining, limiting, encoding, tags."""
