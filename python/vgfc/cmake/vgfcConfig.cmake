# find_package(vgfc): `python3 -m vgfc --cmakedir` prints this folder, for vgfc_DIR.
#
# VGFC_PYTHON is the interpreter that runs the tools (default: the python3 found first); it must have vgfc's dependencies.
# VGFC_IRDL_FILE is the vgf dialect, as `mlir-opt --irdl-file` takes it.
get_filename_component(VGFC_PYTHON_DIR "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
set(VGFC_IRDL_FILE "${VGFC_PYTHON_DIR}/vgfc/vgf.irdl.mlir")
find_program(VGFC_PYTHON python3 REQUIRED)
include("${CMAKE_CURRENT_LIST_DIR}/vgfcFunctions.cmake")
