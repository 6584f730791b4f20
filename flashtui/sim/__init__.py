"""A loopback simulator of the provider APIs; imports nothing of the client."""
