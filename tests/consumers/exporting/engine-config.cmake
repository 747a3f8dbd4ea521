include(CMakeFindDependencyMacro)
find_dependency(stemma COMPONENTS core)
include(${CMAKE_CURRENT_LIST_DIR}/engine-targets.cmake)
