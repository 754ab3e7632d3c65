"""Whether an utterance is what it should be: signal, rate, and what a listener hears."""
