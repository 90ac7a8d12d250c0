"""What a machine is: collectors, parsers, the target-interpreter probe."""
