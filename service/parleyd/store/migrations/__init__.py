"""The schema's history. It only goes forward: a step back would throw answers away."""
