"""The parts of Compare: trials in the background, and several runs beside each other."""
