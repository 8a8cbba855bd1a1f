"""The parts of Learn: the tour, lessons, their pictures and texts."""
