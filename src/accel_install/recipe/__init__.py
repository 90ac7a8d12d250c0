"""Recipes and compatibility rows: loading, graph, judgement."""
