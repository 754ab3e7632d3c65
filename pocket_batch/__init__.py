"""pocket-batch: text to speech by the hour, on CPUs, without anyone watching."""
