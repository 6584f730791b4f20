"""Vast.ai's side of the simulator."""
