"""Speech data sets from a program: make one, export it, check it, read it."""
