"""Scratch machines and the stand-ins they use, labelled as such."""
