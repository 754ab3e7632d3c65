"""Measurements of the engine, alone or in turn with pocket-tts: what `pocket-batch bench` runs."""
