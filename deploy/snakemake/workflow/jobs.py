"""How much memory and time the jobs of a sample ask for: as planned, and more after they were killed for it."""

import glob
import json
import math
import os

# Beside orcomgo, a job runs Snakemake and a shell.
SNAKEMAKE_MB = 250

# orcomgo stays near --memory, not strictly below it.
MEMORY_MARGIN = 1.15

# Bounds in MB of what orcomgo is told by --memory. With less than the lowest, blocks get smaller and the archive larger.
LEAST_BUDGET_MB = 700

# Where the profile has Slurm write the logs of jobs.
SLURM_LOGS = "logs/slurm"

# Until there is a plan: of the job that makes it.
MINUTES_UNKNOWN = 60

# What Slurm writes into the log of a job that it kills: with control groups, without them, and for its time limit.
MEMORY_KILLS = ("oom_kill", "oom-kill", "Out Of Memory", "Exceeded job memory limit")
TIME_KILLS = ("DUE TO TIME LIMIT",)


class Jobs:
    """Functions for the resources of rules, each of the wildcards of a job."""

    def __init__(self, settings):
        self.settings = settings
        self._plan, self._plan_time = {}, None

    def budget_mb(self, wildcards):
        """What orcomgo is told by --memory. It is the same for every attempt, since the archive may depend on it."""
        entry = self._entry(wildcards.sample)
        planned = entry["budget_mb"] if entry else LEAST_BUDGET_MB
        return max(LEAST_BUDGET_MB, min(planned, self.settings.max_mem_mb))

    def mem_mb(self, step):
        """What Slurm is asked for: the budget and what is beside it, twice as much for each time it was too little."""

        def mem_mb(wildcards):
            ask = self.settings.samples[wildcards.sample].mem_mb
            if not ask:
                ask = math.ceil(self.budget_mb(wildcards) * MEMORY_MARGIN) + SNAKEMAKE_MB
            return ask << count_kills(step, wildcards.sample, MEMORY_KILLS)

        return mem_mb

    def runtime(self, step):
        """Minutes that Slurm is asked for, twice as many for each time they were too few."""

        def runtime(wildcards):
            entry = self._entry(wildcards.sample)
            minutes = entry["minutes"] if entry else MINUTES_UNKNOWN
            return minutes << count_kills(step, wildcards.sample, TIME_KILLS)

        return runtime

    def _entry(self, sample):
        """The sample's entry in the plan, or None if there is no plan yet, or one of an older sheet."""
        path = f"{self.settings.out}/plan.json"
        try:
            time = os.stat(path).st_mtime_ns
        except FileNotFoundError:
            return None
        if time != self._plan_time:
            with open(path, encoding="utf-8") as f:
                self._plan = json.load(f)
            self._plan_time = time
        return self._plan.get(sample)


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
