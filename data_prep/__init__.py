"""Reading and checking training data. Imports nothing else of this project and no framework."""
