"""A job: plan, speak, master, write, and the record of it."""
