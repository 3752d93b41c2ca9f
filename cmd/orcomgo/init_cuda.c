//go:build cuda

// orcomgo starts orcomgo-cuda to find out whether it can be loaded, with the libraries that it needs: see device.go.
#include <stdlib.h>
#include <unistd.h>

__attribute__((constructor)) static void end_if_loading_was_all(void) {
  if (getenv("ORCOMGO_CUDA_LOADS")) _exit(0);
}
