"""RunPod's side of the simulator."""
