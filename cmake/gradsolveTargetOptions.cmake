# gradsolve_target_options(TARGET): the warnings of our own targets, none of which reach a user.
# gradsolve_executable_options(TARGET): the same, and the CPU of this machine where it is asked for.
# gradsolve_describe_build(COMMIT FLAGS): the commit and the compiler's flags, for what prints numbers: one
# without them is a rumour.

function(gradsolve_target_options target)
  target_compile_options(${target} PRIVATE -Wall -Wextra)
  if(gradsolve_WARNINGS_AS_ERRORS)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # A note, not a warning: passing a pack by value differs between vector instruction sets.
    target_compile_options(${target} PRIVATE -Wno-psabi)
    # An eighth of the time of a unit went to collecting garbage of a heap that fits in memory.
    target_compile_options(${target} PRIVATE --param=ggc-min-heapsize=1000000)
  endif()
endfunction()

function(gradsolve_executable_options target)
  gradsolve_target_options(${target})
  if(gradsolve_NATIVE)
    target_compile_options(${target} PRIVATE -march=native)
  endif()
endfunction()

function(gradsolve_describe_build commit flags)
  execute_process(COMMAND git -C ${PROJECT_SOURCE_DIR} describe --always --dirty
    OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" configuration)
  set(text "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${configuration}}")
  if(gradsolve_NATIVE)
    string(APPEND text " -march=native")
  endif()
  string(STRIP "${text}" text)
  set(${commit} "${described}" PARENT_SCOPE)
  set(${flags} "${text}" PARENT_SCOPE)
endfunction()
