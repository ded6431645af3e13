"""Import only: a model in another form becomes a module; no choice is made here."""
