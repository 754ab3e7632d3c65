"""Text: from the words as written to the pieces that an engine speaks."""
