"""The explorer: the interactive report, a single HTML file for any number of suites and backends."""
