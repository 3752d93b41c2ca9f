package main

// Texts that orcomgo help prints: they are too long for the help of archive.

var againTopic = command{
	name:  "again",
	about: "give the command archive again after an interruption, or with --force",
	help: `If OUT holds an archive of the same inputs, made with the same flags, there is nothing to do; if it
holds their bins, they are packed. So a command that was interrupted can be given again. Inputs are
the same if their files have the size and time that were recorded, or else the same SHA-256, or else
the same text. Of files below 1 MB, and of times in whole seconds, which different files may share,
SHA-256 or the text is compared in any case, if the archive has one of them.

With --force, archives that were replaced before a run failed or was interrupted stay so: give the
same command again. --force replaces archives of other inputs, but none that the side archive of
another directory needs: a sample of a directory gets another name then, and one file or a sample of
a sheet is an error. There are no files of bins: they are kept in memory up to an eighth of
--memory, and beyond that in temporary files in OUT, or in the directory of --tmpdir, that are gone
when archive ends, however it ends.
`,
}

var directoriesTopic = command{
	name:  "directories",
	about: "archive a directory, or the samples of a sheet",
	help: `A directory as input is archived as a whole. Files of reads, told by their content, are put together
to samples by their names, such as liver_S1_L001_R1_001.fastq.gz, ERR123_1.fastq.gz, x.R1.fq or
x.fasta, lanes in order; each sample becomes an archive of its name. All other files go to one side
archive, OUT/DIR.ctree, with the listing of the directory: names, modes, times, links, empty
directories. unpack OUT/ restores the directory from these. Of compressed files of reads it restores
the text (x.fastq of x.fastq.gz), or with --gzip a .gz of the same text; --as-is '*.gz' keeps their
very bytes. --include and --exclude choose what is archived. A pattern without a slash is one of
names anywhere, one with a slash is one of paths in the directory, where ** matches any directories.
Hidden files are never samples. --dry-run lists what would go where. OUT may be the directory or be
in it: files of archives directly in OUT are left out, and so is the --log file. --samples takes a
sheet instead, with the columns sample, fastq_1 and fastq_2. What is archived already is skipped,
and what fails stops nothing else: a table at the end has all, and the exit status is 1 if something
failed.

Examples:
  orcomgo archive run/ archives/                a directory: samples, and all other files
  orcomgo archive --jobs 4 fastq/ archives/     four at a time, which suits small ones
  orcomgo archive --samples sheet.csv archives/ those of a sheet
`,
}

var groupsTopic = command{
	name:  "groups",
	about: "store what samples have in common once",
	help: `With --group auto, samples whose reads or sequences have much in common share an archive, called
NAME_group, NAME that of the first of them. It stores the common sequence once: twenty genomes of a
species take a seventh of the bytes. unpack --sample restores one of them, in at most 1.3 times the
time that it would take alone, which bounds how much a group may hold. Groups that OUT holds already
stay as they are, and so do samples that have an archive. By default each sample has an archive of
its own, so that samples that are added later change nothing.
`,
}
