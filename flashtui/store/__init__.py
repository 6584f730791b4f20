"""SQLite behind one owner thread; the only layer that knows SQL."""
