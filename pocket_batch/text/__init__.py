"""From written text to the segments that are spoken."""
