#!/bin/sh
# Tells Snakemake whether a job of Slurm is running, or ended with success or not.
job=${1%%;*}
text=$(scontrol --oneliner show job "$job" 2>&1)
case $text in
*JobState=*) state=${text#*JobState=} state=${state%% *} ;;
*'Invalid job id'*) # Slurm's controller has forgotten it; the database, if there is one, knows more
	state=$(sacct --allocations --noheader --parsable2 --format=State --jobs="$job" 2>/dev/null | head -n 1)
	state=${state:-LOST} ;;
*) state=UNKNOWN ;; # the controller does not answer; it will
esac
case $state in
COMPLETED) echo success ;;
BOOT_FAIL | CANCELLED* | DEADLINE | FAILED | LOST | NODE_FAIL | OUT_OF_MEMORY | PREEMPTED | REVOKED | TIMEOUT) echo failed ;;
*) echo running ;;
esac
