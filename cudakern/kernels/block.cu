// The kernels that bin one block of FASTQ text, in the order in which they run on a stream, those that lay out
// reads, those of the Burrows-Wheeler transform, and the coder of qualities.

#include "lines.cuh"
#include "records.cuh"
#include "signature.cuh"
#include "sort.cuh"
#include "gather.cuh"
#include "texthash.cuh"
#include "names.cuh"
#include "encode.cuh"
#include "inflate.cuh"
#include "place.cuh"
#include "join.cuh"
#include "vote.cuh"
#include "suffixes.cuh"
#include "quals.cuh"
