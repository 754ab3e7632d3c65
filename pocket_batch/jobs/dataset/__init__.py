"""A corpus becomes a data set: plan, speak, export, validate, augment."""
