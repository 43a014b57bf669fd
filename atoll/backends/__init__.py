"""Back ends: one folder per target language."""
