process ORCOMGO_ARCHIVE {
    tag "${meta.id}"
    label 'process_medium'

    conda "${moduleDir}/environment.yml"
    container "${workflow.containerEngine in ['singularity', 'apptainer'] && !task.ext.singularity_pull_docker_container
        ? 'https://depot.galaxyproject.org/singularity/orcomgo:0.1.0--0'
        : 'biocontainers/orcomgo:0.1.0--0'}"

    input:
    tuple val(meta), path(reads)

    output:
    tuple val(meta), path("${prefix}.cdna"), path("${prefix}.{cmeta,cpar}"), emit: archive
    tuple val("${task.process}"), val('orcomgo'), eval("orcomgo --version | sed '1!d;s/^orcomgo //;s/ .*//'"), emit: versions_orcomgo, topic: versions

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    prefix = task.ext.prefix ?: "${meta.id}"
    def inputs = meta.single_end ? "${reads}" : reads.collate(2).collect { first, second -> "-1 ${first} -2 ${second}" }.join(' ')
    def memory = task.memory ? "--memory ${(task.memory.toMega() * 0.8).intValue()}MB" : ''
    """
    orcomgo \\
        archive \\
        --as ${prefix} \\
        --threads ${task.cpus} \\
        ${memory} \\
        ${args} \\
        ${inputs} \\
        ./
    """

    stub:
    def args = task.ext.args ?: ''
    prefix = task.ext.prefix ?: "${meta.id}"
    """
    echo ${args}

    touch ${prefix}.cdna
    touch ${prefix}.cmeta
    touch ${prefix}.cpar
    """
}
