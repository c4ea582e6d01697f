"""What `make bench` runs: measurements in interleaved rounds, and tables of their medians. See bench/README.md."""
