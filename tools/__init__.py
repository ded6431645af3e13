"""The command-line tools: argument parsing only."""
