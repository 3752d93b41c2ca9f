//go:build cuda

// gorgonia.org/cu calls cuInit when the program is loaded, and panics if it fails. So this calls it
// first: where it fails, or takes too long, the process becomes the program that ORCOMGO_CPU_PROGRAM
// names, with the same arguments and the reason in ORCOMGO_NO_GPU. See device.go. Without that
// variable it ends with an error.
#define _GNU_SOURCE
#include <cuda.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATIENCE 20 // seconds

static char **arguments;
static char *cpu_program;

static void write_error(const char *text) {
  if (write(2, text, strlen(text)) < 0) _exit(1);
}

static void run_on_cpu(const char *why) {
  if (!cpu_program) {
    write_error("orcomgo: no usable GPU: ");
    write_error(why);
    write_error("\n");
    _exit(1);
  }
  setenv("ORCOMGO_NO_GPU", why, 1);
  execv(cpu_program, arguments);
  _exit(1);
}

static void too_late(int number) {
  (void)number;
  run_on_cpu("the driver did not answer within 20 s");
}

__attribute__((constructor)) static void try_driver(int argc, char **argv, char **env) {
  (void)argc;
  (void)env;
  if (getenv("ORCOMGO_CUDA_LOADS")) _exit(0); // this is all that was asked
  arguments = argv;
  cpu_program = getenv("ORCOMGO_CPU_PROGRAM");
  struct sigaction action = {.sa_handler = too_late}, before;
  sigaction(SIGALRM, &action, &before);
  alarm(PATIENCE);
  CUresult r = cuInit(0);
  alarm(0);
  sigaction(SIGALRM, &before, NULL);
  if (r == CUDA_SUCCESS) return;
  const char *why = NULL;
  if (cuGetErrorString(r, &why) != CUDA_SUCCESS || !why) why = "the driver does not start";
  run_on_cpu(why);
}
