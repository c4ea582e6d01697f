"""The harness of `make bench`: measurements in interleaved rounds, and tables of their medians. See bench/README.md."""
