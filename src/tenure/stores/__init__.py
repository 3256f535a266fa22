"""Layer 2: where jobs are kept. `contract` says what a store promises, `open_store` gives one."""

from tenure.stores.open import open_store

__all__ = ["open_store"]
