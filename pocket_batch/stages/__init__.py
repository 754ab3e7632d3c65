"""Stages turn items into items, generator in, generator out."""
