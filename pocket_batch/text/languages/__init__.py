"""One table for each language: its words for months, units, money, marks and numbers."""
