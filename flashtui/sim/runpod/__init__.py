"""The RunPod half of the simulator: GraphQL, REST v2 and the serverless job runtime."""
