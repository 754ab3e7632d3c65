"""Speech models behind one protocol."""
