"""The explorer: a report as one HTML file that opens from the disk, over any number of suites and backends."""
