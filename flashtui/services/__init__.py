"""Use cases: feeds, operations, recovery; asyncio lives here."""
