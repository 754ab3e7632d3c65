"""The speech model in torch: backbone, flow head, Mimi codec, their weights and tokenizers."""
