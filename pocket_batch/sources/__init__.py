"""Readers of books and corpora."""
