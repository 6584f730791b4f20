"""flashtui: a terminal dashboard for rented GPUs."""

__version__ = "0.1.0"
