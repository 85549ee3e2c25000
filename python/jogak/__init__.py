"""jogak: subword tokenization, all of it."""
