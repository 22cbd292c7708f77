"""The parts of bench/run: building, taking turns, and the table."""
