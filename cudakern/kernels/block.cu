// The kernels that bin one block of FASTQ text, in the order in which they run on a stream.

// The number that a kernel leaves in host memory when it begins; launch.go has the same list.
enum Step {
  STEP_NONE,
  STEP_LINES,
  STEP_RECORDS,
  STEP_SIGNATURE,
  STEP_SORT_COUNT,
  STEP_SCAN,
  STEP_SORT_SCATTER,
  STEP_ARRANGE,
  STEP_BIN_STARTS,
  STEP_PACK,
  STEP_EXCEPTIONS,
  STEP_COLUMNS,
  STEP_MAP_QUALS
};

#include "lines.cuh"
#include "records.cuh"
#include "signature.cuh"
#include "sort.cuh"
#include "gather.cuh"
