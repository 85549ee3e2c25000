"""``python -m jogak`` is ``jogak``."""

from __future__ import annotations

from jogak.cli import main

if __name__ == "__main__":
    main()
