"""Locks with the surface of other libraries, for programs that move over; imported only when asked for."""
