"""One function becomes a sequence of segments: graph, compute, host."""
