// RUN: vgf-opt %s -p vgf-assign-graph-constants --verify-diagnostics

// The bindings do not give out the bytes of a resource, so the file could not hold them.

func.func private @segment_0() -> tensor<17xf32> attributes {vgf.segment = "graph"} {
  // expected-error @below {{'tosa.const' expected inline values (dense<...>), found opaque ones (dense_resource<...>)}}
  %0 = "tosa.const"() <{values = dense_resource<blob> : tensor<17xf32>}> : () -> tensor<17xf32>
  return %0 : tensor<17xf32>
}
