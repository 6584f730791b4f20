"""What runs on the rented machine; imports nothing of ours."""
