process ORCOMGO_UNPACK {
    tag "${meta.id}"
    label 'process_medium'

    conda "${moduleDir}/environment.yml"
    container "${workflow.containerEngine in ['singularity', 'apptainer'] && !task.ext.singularity_pull_docker_container
        ? 'https://depot.galaxyproject.org/singularity/orcomgo:0.1.0--0'
        : 'biocontainers/orcomgo:0.1.0--0'}"

    input:
    tuple val(meta), path(cdna), path(beside)

    output:
    tuple val(meta), path("${prefix}/*"), emit: reads
    tuple val("${task.process}"), val('orcomgo'), eval("orcomgo --version | sed '1!d;s/^orcomgo //;s/ .*//'"), emit: versions_orcomgo, topic: versions

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: '--gzip'
    prefix = task.ext.prefix ?: "${meta.id}"
    def memory = task.memory ? "--memory ${(task.memory.toMega() * 0.8).intValue()}MB" : ''
    """
    orcomgo \\
        unpack \\
        --threads ${task.cpus} \\
        ${memory} \\
        ${args} \\
        ${cdna} \\
        -o ${prefix}/
    """

    stub:
    def args = task.ext.args ?: '--gzip'
    prefix = task.ext.prefix ?: "${meta.id}"
    """
    echo ${args}

    mkdir ${prefix}
    echo "" | gzip > ${prefix}/${prefix}_1.fastq.gz
    echo "" | gzip > ${prefix}/${prefix}_2.fastq.gz
    """
}
