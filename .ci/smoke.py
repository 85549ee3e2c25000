"""The shortest proof that an installed jogak works, with nothing but what it installs."""

import jogak

text = "low lower lowest 최고의 영화"
tok = jogak.train([text] * 9, jogak.BPE(num_merges=20))
assert tok.decode(tok.encode(text)) == text
assert len(tok.encode(text)) < len(text.encode())
print(f"jogak {jogak.__version__}: {tok.tokens(text)}")
