"""How an operator is declared, how its inputs are drawn and how it is evaluated."""
