"""The composition root: builds everything and hands it in."""
