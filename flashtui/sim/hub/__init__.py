"""The Hugging Face hub of the simulator: dataset repositories that run artifacts travel through."""
