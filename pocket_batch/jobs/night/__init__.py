"""Runs of job files: many inputs, one queue, one summary."""
