"""The composition root: builds clock, randomness, HTTP, registry, store and services, and hands them in."""
