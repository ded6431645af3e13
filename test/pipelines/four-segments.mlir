// A network with an operator that no graph can hold in the middle and a shader near the end, step by step.

// RUN: vgf-opt %s --vgf-pipeline=torch-to-tosa -o %t.tosa.mlir
// RUN: filecheck %s --check-prefix=TOSA < %t.tosa.mlir
// RUN: vgf-opt %t.tosa.mlir -p vgf-mark-segments -o %t.marked.mlir
// RUN: filecheck %s --check-prefix=MARKED < %t.marked.mlir
// RUN: vgf-opt %t.marked.mlir -p vgf-form-segments -o %t.formed.mlir
// RUN: filecheck %s --check-prefix=FORMED < %t.formed.mlir
// RUN: vgf-opt %t.formed.mlir -p vgf-outline-segments,vgf-check-segments -o %t.outlined.mlir
// RUN: filecheck %s --check-prefix=OUTLINED < %t.outlined.mlir
// RUN: vgf-opt %t.outlined.mlir --vgf-pipeline=tosa-lower | filecheck %s --check-prefix=LOWERED

// The sort is a call of a function of the host, grid_sample a tosa.custom that holds its shader.

// TOSA-LABEL: func.func @main
// TOSA: tosa.clamp
// TOSA: call @aten_sort_0
// TOSA: tosa.custom {{.*}}operator_name = "aten::grid_sampler"
// TOSA: tosa.abs
// TOSA: func.func private @aten_sort_0{{.*}}vgf.host_function = "torch.aten.sort"

// MARKED-LABEL: func.func @main
// MARKED: tosa.clamp {{.*}}vgf.segment = "graph"
// MARKED: call @aten_sort_0{{.*}}vgf.reason = "torch.aten.sort has no form in TOSA 1.0", vgf.segment = "host"
// MARKED: tosa.custom {{.*}}vgf.segment = "compute"
// MARKED: tosa.abs {{.*}}vgf.segment = "graph"

// FORMED-LABEL: func.func @main
// FORMED: tosa.clamp {{.*}}vgf.segment_index = 0
// FORMED: call @aten_sort_0{{.*}}vgf.segment_index = 1
// FORMED: tosa.custom {{.*}}vgf.segment_index = 2
// FORMED: tosa.abs {{.*}}vgf.segment_index = 3

// OUTLINED-LABEL: func.func @main
// OUTLINED-NEXT: %[[A:.+]] = call @segment_0(%arg0)
// OUTLINED-NEXT: %[[B:.+]] = call @segment_1(%[[A]])
// OUTLINED-NEXT: %[[C:.+]] = call @segment_2(%[[B]], %arg1)
// OUTLINED-NEXT: %[[D:.+]] = call @segment_3(%[[C]])
// OUTLINED-NEXT: return %[[D]]
// OUTLINED: @segment_0{{.*}}vgf.segment = "graph"
// OUTLINED: @segment_1{{.*}}vgf.segment = "host"
// OUTLINED: @segment_2{{.*}}vgf.segment = "compute"
// OUTLINED: @segment_3{{.*}}vgf.segment = "graph"

// Graphs are SPIR-V, the shader too; the host's function is what it was.

// LOWERED: spirv.Tosa.Clamp
// LOWERED: call @aten_sort_0
// LOWERED: shader_language\22: \22SPIR-V
// LOWERED: spirv.Tosa.Abs

func.func @main(%x: !torch.vtensor<[1,2,4,4],f32>, %grid: !torch.vtensor<[1,3,5,2],f32>) -> !torch.vtensor<[1,2,3,5],f32> {
  %last = torch.constant.int -1
  %zero = torch.constant.int 0
  %false = torch.constant.bool false
  %0 = torch.aten.relu %x : !torch.vtensor<[1,2,4,4],f32> -> !torch.vtensor<[1,2,4,4],f32>
  %1, %indices = torch.aten.sort %0, %last, %false : !torch.vtensor<[1,2,4,4],f32>, !torch.int, !torch.bool -> !torch.vtensor<[1,2,4,4],f32>, !torch.vtensor<[1,2,4,4],si64>
  %2 = torch.aten.grid_sampler %1, %grid, %zero, %zero, %false : !torch.vtensor<[1,2,4,4],f32>, !torch.vtensor<[1,3,5,2],f32>, !torch.int, !torch.int, !torch.bool -> !torch.vtensor<[1,2,3,5],f32>
  %3 = torch.aten.abs %2 : !torch.vtensor<[1,2,3,5],f32> -> !torch.vtensor<[1,2,3,5],f32>
  return %3 : !torch.vtensor<[1,2,3,5],f32>
}
