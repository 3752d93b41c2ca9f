//go:build cuda

// gorgonia.org/cu calls cuInit when the program is loaded, and ends the program if that fails. The linker directs its call to
// __wrap_cuInit (-Wl,--wrap=cuInit), which does nothing: the driver is started by start_driver, when a GPU is first asked for.
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>

CUresult __real_cuInit(unsigned int flags);

CUresult __wrap_cuInit(unsigned int flags) {
  (void)flags;
  return CUDA_SUCCESS;
}

// start_driver returns the driver's answer, and in *why what that means. If connections is not 0, contexts have so many, unless the
// environment says how many.
CUresult start_driver(int connections, const char **why) {
  char text[16];
  snprintf(text, sizeof text, "%d", connections);
  if (connections > 0) setenv("CUDA_DEVICE_MAX_CONNECTIONS", text, 0);
  CUresult r = __real_cuInit(0);
  if (r != CUDA_SUCCESS && cuGetErrorString(r, why) != CUDA_SUCCESS) *why = 0;
  return r;
}
