# gradsolve_target_options(TARGET): the warnings of our own targets, none of which reach a user.
# gradsolve_executable_options(TARGET): the same, and the CPU of this machine where it is asked for.

function(gradsolve_target_options target)
  target_compile_options(${target} PRIVATE -Wall -Wextra)
  if(gradsolve_WARNINGS_AS_ERRORS)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # A note, not a warning: passing a pack by value differs between vector instruction sets.
    target_compile_options(${target} PRIVATE -Wno-psabi)
  endif()
endfunction()

function(gradsolve_executable_options target)
  gradsolve_target_options(${target})
  if(gradsolve_NATIVE)
    target_compile_options(${target} PRIVATE -march=native)
  endif()
endfunction()
