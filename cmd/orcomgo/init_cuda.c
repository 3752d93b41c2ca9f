//go:build cuda

// gorgonia.org/cu calls cuInit when the program is loaded, and panics if it fails. So this calls it
// first. If it fails, or takes too long, the process becomes the program that ORCOMGO_CPU_PROGRAM names,
// with the same arguments and the reason in ORCOMGO_NO_GPU; without that variable it ends with an error.
// See device.go.
#define _GNU_SOURCE
#include <cuda.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TIMEOUT 20 // seconds
static const char *too_late = "the driver did not answer within 20 s";

static char **arguments;
static char *cpu_program;

static void write_error(const char *text) {
  if (write(2, text, strlen(text)) < 0) _exit(1);
}

// run_on_cpu expects the reason in the environment already. It calls only functions that a signal handler
// may call: the driver may hold a lock of malloc, which setenv needs.
static void run_on_cpu(const char *why) {
  if (!cpu_program) {
    write_error("orcomgo: no usable GPU: ");
    write_error(why);
    write_error("\n");
    _exit(1);
  }
  execv(cpu_program, arguments);
  write_error("orcomgo: no usable GPU, and the program without GPU support does not start\n");
  _exit(1);
}

static void end_wait(int number) {
  (void)number;
  run_on_cpu(too_late);
}

__attribute__((constructor)) static void try_driver(int argc, char **argv, char **env) {
  (void)argc;
  (void)env;
  if (getenv("ORCOMGO_CUDA_LOADS")) _exit(0); // this is all that was asked
  arguments = argv;
  cpu_program = getenv("ORCOMGO_CPU_PROGRAM");
  setenv("ORCOMGO_NO_GPU", too_late, 1);
  // SA_NODEFER: otherwise the signal would stay blocked in the program that is executed.
  struct sigaction action = {.sa_handler = end_wait, .sa_flags = SA_NODEFER}, before;
  sigaction(SIGALRM, &action, &before);
  alarm(TIMEOUT);
  CUresult r = cuInit(0);
  alarm(0);
  sigaction(SIGALRM, &before, NULL);
  unsetenv("ORCOMGO_NO_GPU");
  if (r == CUDA_SUCCESS) return;
  const char *why = NULL;
  if (cuGetErrorString(r, &why) != CUDA_SUCCESS || !why) why = "the driver does not start";
  setenv("ORCOMGO_NO_GPU", why, 1);
  run_on_cpu(why);
}
