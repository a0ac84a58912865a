"""The JSON Schema of every file that is written: made by ``documents`` from the structs, and published beside it."""
