"""The parts of Learn: tour, lessons and their pictures, Bug lab, exercises, notes for teachers."""
