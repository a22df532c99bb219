"""Documents in a terminal: what each block looks like, and what may be said in reply."""
