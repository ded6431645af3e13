"""Graph constants and spirv.ARM.Graph: what the emitter encodes."""
