"""Locks with the surface of other libraries, for programs that move over. `redlatch` does not import this package."""
