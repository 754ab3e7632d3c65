"""Writers of finished files."""
