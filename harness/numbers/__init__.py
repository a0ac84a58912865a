"""What arithmetic is: exact values, correct rounding into an element type, and the bound of an honest answer."""
