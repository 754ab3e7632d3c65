"""Executors hand the missing items of a stage to workers."""
