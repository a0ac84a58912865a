"""The commands: each calls other packages with the parsed options, prints, and returns the exit status."""
