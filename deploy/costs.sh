#!/bin/sh
# costs.sh: what it costs to keep a terabyte of .fastq.gz files, and what it costs as archives of orcomgo. The prices are
# yours; set them in the environment:
#   PRICE=20 CPU_PRICE=0.03 SHARE=0.5 COPIES=2 YEARS=5 SCRUBS=1 deploy/costs.sh
# PRICE       of a terabyte (10^12 bytes) of storage a month, in any currency
# CPU_PRICE   of an hour of one CPU core
# SHARE       size of the archives as a share of the .fastq.gz: orcomgo plan or report say it
# COPIES      how many copies are kept, each at PRICE
# YEARS       how long
# SCRUBS      how often a year one copy is decoded and compared (orcomgo verify); verify --quick takes no time of the CPU
# ARCHIVE_H, VERIFY_H  hours of one core to archive, and to decode, what was a terabyte of .fastq.gz
set -eu
awk -v price="${PRICE:-20}" -v cpu="${CPU_PRICE:-0.03}" -v share="${SHARE:-0.5}" -v copies="${COPIES:-2}" \
	-v years="${YEARS:-5}" -v scrubs="${SCRUBS:-1}" -v archive="${ARCHIVE_H:-190}" -v verify="${VERIFY_H:-70}" '
function check(name, value, least) {
	if (value !~ /^[0-9]+([.][0-9]+)?$/ || value + 0 < least) {
		printf "costs.sh: %s is \"%s\": expected a number, at least %s\n", name, value, least | "cat >&2"
		bad = 1
	}
}
function row(name, size, once, yearly) {
	stored = size * copies * price * 12 * years
	computed = once + yearly * years
	printf "| %s | %.2f | %.2f | %.2f | %.2f |\n", name, size * copies, stored, computed, stored + computed
	return stored + computed
}
BEGIN {
	check("PRICE", price, 0); check("CPU_PRICE", cpu, 0); check("SHARE", share, 0); check("COPIES", copies, 1)
	check("YEARS", years, 0); check("SCRUBS", scrubs, 0); check("ARCHIVE_H", archive, 0); check("VERIFY_H", verify, 0)
	if (bad) exit 1
	printf "| %g %s, %g years | TB stored | storage | CPU | all |\n", copies, (copies == 1 ? "copy" : "copies"), years
	print "|---|---:|---:|---:|---:|"
	gz = row(".fastq.gz", 1, 0, 0)
	ours = row("orcomgo, share " share, share, archive * cpu, scrubs * verify * cpu)
	printf "\nsaved: %.2f for each terabyte of .fastq.gz (%.0f %%)\n", gz - ours, (gz > 0 ? 100 * (gz - ours) / gz : 0)
	monthly = (1 - share) * copies * price - scrubs * verify * cpu / 12
	if (monthly > 0)
		printf "archiving has paid for itself after %.1f months\n", archive * cpu / monthly
	else
		print "archiving never pays for itself at these prices"
}'
