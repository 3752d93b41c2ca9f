"""What the jobs of a sample ask for: memory, time and disk as planned, and more memory or time after they were killed for it."""

import glob
import json

# Beside orcomgo, a job runs Snakemake and a shell.
SNAKEMAKE_MB = 250

# Of the job that plans: orcomgo archives 64 MB of text.
PLAN_MB = 1500

# Where the profile has Slurm write the logs of jobs.
SLURM_LOGS = "logs/slurm"

# What Slurm writes into the log of a job that it kills: for memory with control groups or without, and for time.
MEMORY_KILLS = ("oom_kill", "oom-kill", "Out Of Memory", "Exceeded job memory limit")
TIME_KILLS = ("DUE TO TIME LIMIT",)


class Jobs:
    """Functions for the resources of rules, each of the wildcards of a job."""

    def __init__(self, settings):
        self.settings = settings

    def plan_mem_mb(self, wildcards):
        """What the job that plans asks for."""
        return PLAN_MB << count_kills("plan", wildcards.sample, MEMORY_KILLS)

    def mem_mb(self, step):
        """What Slurm is asked for: what orcomgo needs and what is beside it, doubled each time it was too little."""

        def mem_mb(wildcards):
            ask = self.settings.archives[wildcards.sample].mem_mb
            if not ask:
                ask = self._plan(wildcards.sample)["mem_mb"] + SNAKEMAKE_MB
            return ask << count_kills(step, wildcards.sample, MEMORY_KILLS)

        return mem_mb

    def runtime(self, step):
        """Minutes that Slurm is asked for, twice as many for each time they were too few."""

        def runtime(wildcards):
            return self._plan(wildcards.sample)["runtime"] << count_kills(step, wildcards.sample, TIME_KILLS)

        return runtime

    def disk_mb(self, wildcards):
        """What temporary files take where bins are not on the shared disk."""
        return -(-self._plan(wildcards.sample)["tmpdir_bytes"] // 1_000_000)

    def _plan(self, sample):
        """The resources that orcomgo plan printed for the sample. Before it did, as in a dry run, something to show."""
        try:
            with open(f"{self.settings.out}/plan/{sample}.json", encoding="utf-8") as f:
                return json.load(f)["archives"][0]["resources"]
        except FileNotFoundError:
            return {"mem_mb": self.settings.max_mem_mb, "runtime": 60, "tmpdir_bytes": 0}


def slurm_logs(step, sample):
    """The logs of the Slurm jobs of a step of a sample, also those of earlier runs of the workflow."""
    folders = (f"sample={sample}", sample)  # as the profiles for Snakemake 7 and for 8 name them
    return [log for folder in folders for log in glob.glob(f"{SLURM_LOGS}/rule_{step}/{folder}/*.log")]


def count_kills(step, sample, messages):
    """How many of those jobs ended with one of the messages."""
    count = 0
    for path in slurm_logs(step, sample):
        with open(path, encoding="utf-8", errors="replace") as f:
            text = f.read()
        count += any(m in text for m in messages)
    return count
