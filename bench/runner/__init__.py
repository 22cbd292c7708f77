"""What bench/run is made of: building, taking turns, and the table."""
