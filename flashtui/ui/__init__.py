"""The Textual dashboard: shows a snapshot and asks for operations."""
