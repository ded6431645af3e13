# vgfc_add_model(<target> SOURCE <model> [PIPELINE <text>] [OUTPUT <file.vgf>])
#
# Compiles a model (.mlir, .mlirbc, .pt2, .tosa, ...) to a VGF file at build time, again when its source changes. PIPELINE
# runs on the source first, as vgf-opt does it. The file's path is the target's property VGFC_OUTPUT.
function(vgfc_add_model target)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "SOURCE;PIPELINE;OUTPUT" "")
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "vgfc_add_model: unknown argument '${ARG_UNPARSED_ARGUMENTS}'; it takes SOURCE, PIPELINE, OUTPUT")
  endif()
  if(NOT ARG_SOURCE)
    message(FATAL_ERROR "vgfc_add_model(${target}): expected SOURCE <model>, found none")
  endif()
  get_filename_component(source "${ARG_SOURCE}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
  if(NOT ARG_OUTPUT)
    set(ARG_OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/${target}.vgf")
  endif()
  set(compiled "${source}")
  set(environment "${CMAKE_COMMAND}" -E env "PYTHONPATH=${VGFC_PYTHON_DIR}")
  if(ARG_PIPELINE)
    set(compiled "${CMAKE_CURRENT_BINARY_DIR}/${target}.mlirbc")
    add_custom_command(OUTPUT "${compiled}"
      COMMAND ${environment} "${VGFC_PYTHON}" -m vgfc.tools.vgf_opt "${source}" "--pass-pipeline=${ARG_PIPELINE}"
        --emit-bytecode -o "${compiled}"
      DEPENDS "${source}" COMMENT "vgf-opt ${ARG_SOURCE}" VERBATIM)
  endif()
  add_custom_command(OUTPUT "${ARG_OUTPUT}"
    COMMAND ${environment} "${VGFC_PYTHON}" -m vgfc.tools.vgf_compile "${compiled}" --quiet -o "${ARG_OUTPUT}"
    DEPENDS "${compiled}" COMMENT "vgf-compile ${ARG_SOURCE}" VERBATIM)
  add_custom_target(${target} ALL DEPENDS "${ARG_OUTPUT}")
  set_target_properties(${target} PROPERTIES VGFC_OUTPUT "${ARG_OUTPUT}")
endfunction()

# vgfc_add_lit_tests(<target> <folder> [DEPENDS <targets>...])
#
# A target that runs lit on a folder of tests with vgfc's tools on the path, and a CTest test of the same name.
function(vgfc_add_lit_tests target folder)
  cmake_parse_arguments(PARSE_ARGV 2 ARG "" "" "DEPENDS")
  get_filename_component(tests "${folder}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
  set(command "${CMAKE_COMMAND}" -E env "PYTHONPATH=${VGFC_PYTHON_DIR}" "${VGFC_PYTHON}" -m lit.main -sv "${tests}")
  add_custom_target(${target} COMMAND ${command} DEPENDS ${ARG_DEPENDS} USES_TERMINAL VERBATIM)
  add_test(NAME ${target} COMMAND ${command})
endfunction()
