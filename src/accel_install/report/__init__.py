"""Readers of plans and events: tables, graphs, JSON lines."""
