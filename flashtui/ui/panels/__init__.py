"""Panels of the dashboard screen."""
