"""What the target does not take is rewritten to what it does, or refused."""
