// Runs the tests of nf-core modules without Nextflow and nf-test: what is Groovy in main.nf and main.nf.test is evaluated
// by Groovy, and the commands are run by bash. It knows what these modules use, and no more.
//
//     groovy run.groovy BIN TESTDATA MODULE/tests/main.nf.test...
//     UPDATE=1 groovy ...       writes the snapshots anew
import groovy.json.JsonOutput
import groovy.json.JsonSlurper
import java.nio.file.Files
import java.security.MessageDigest
import org.codehaus.groovy.control.CompilerConfiguration

// Evaluates text with a delegate that has the functions of a language (nf-test, a section of a process).
Object evaluateWith(Object delegate, String text) {
    def compiler = new CompilerConfiguration(scriptBaseClass: DelegatingScript.name)
    DelegatingScript script = new GroovyShell(this.class.classLoader, new Binding(), compiler).parse(text)
    script.setDelegate(delegate)
    script.run()
}

// A process of main.nf: its text, cut at the labels of its sections.
class Module {
    static final LABELS = ['input', 'output', 'when', 'script', 'stub']
    String name
    Map<String, String> sections = [directives: '']

    Module(File file) {
        def m = file.text =~ /(?s)^process (\w+) \{\n(.*)\n\}\n$/
        assert m.matches(): "$file: expected one process"
        name = m.group(1)
        String section = 'directives'
        m.group(2).readLines().each { line ->
            def label = line =~ /^    (\w+):$/
            if (label.matches()) {
                section = label.group(1)
                assert section in LABELS && !sections.containsKey(section): "$file: label $section"
                sections[section] = ''
            } else {
                sections[section] += line + '\n'
            }
        }
        LABELS.each { assert sections.containsKey(it): "$file: no section $it" }
    }
}

class Item { String kind; Object value }

// What a section sees: its variables, and the functions that declare inputs and outputs.
class Scope {
    Map vars = [:]
    List channels = []
    Closure command // runs one and returns what it prints
    def val(value) { new Item(kind: 'val', value: value) }
    def path(value) { new Item(kind: 'path', value: value) }
    def eval(value) { new Item(kind: 'eval', value: value) }
    def tuple(Map options = [:], Object... items) { channels << [items: items as List, options: options] }
    def propertyMissing(String name) { vars.containsKey(name) ? vars[name] : name }
    def propertyMissing(String name, value) { vars[name] = value }
}

class Task {
    int cpus = 2
    Map ext = [:]
    String process
    Object getMemory() { new Object() { long toMega() { 4000 } } }
}

class Result { boolean success; Map out = [:] }

// Configuration as in tests/nextflow.config: ext of processes by their names.
class Config {
    Map<String, Map> ext = [:]
    void process(Closure c) { c.delegate = this; c.resolveStrategy = Closure.DELEGATE_FIRST; c() }
    def methodMissing(String name, args) {
        def values = [:]
        args[0].delegate = [ext: values]
        args[0].resolveStrategy = Closure.DELEGATE_FIRST
        args[0]()
        ext[name] = values
    }
}

Result runProcess(Module module, List inputs, Config config, boolean stub) {
    File work = Files.createTempDirectory(ALL.toPath(), module.name).toFile()
    def shell = { String text ->
        def builder = new ProcessBuilder('bash', '-euo', 'pipefail', '-c', text).directory(work)
        builder.environment().PATH = BIN + ':' + System.getenv('PATH')
        def process = builder.start()
        def out = new StringBuilder(), err = new StringBuilder()
        process.waitForProcessOutput(out, err)
        if (process.exitValue() != 0) { System.err.println("$text\n$err") }
        [process.exitValue(), out.toString().trim()]
    }
    def scope = new Scope()
    evaluateWith(scope, module.sections.input)
    def vars = [task: new Task(process: module.name, ext: config.ext[module.name] ?: [:])]
    scope.channels.eachWithIndex { channel, i ->
        assert inputs[i].size() == channel.items.size(): "input $i of ${module.name}: ${inputs[i]}"
        channel.items.eachWithIndex { item, j ->
            def value = inputs[i][j]
            if (item.kind == 'path') { // files are linked to, and known by their names
                [value].flatten().each { Files.createSymbolicLink(new File(work, it.name).toPath(), it.canonicalFile.toPath()) }
                value = value instanceof List && value.size() > 1 ? value*.name : [value].flatten()[0].name // one file is no list
            }
            vars[item.value] = value
        }
    }
    def run = new Scope(vars: vars)
    assert evaluateWith(run, module.sections.when)
    def status = shell(evaluateWith(run, module.sections[stub ? 'stub' : 'script']).toString())[0]
    def result = new Result(success: status == 0)
    if (!result.success) { return result }
    def outputs = new Scope(vars: run.vars)
    evaluateWith(outputs, module.sections.output)
    outputs.channels.eachWithIndex { channel, i ->
        def tuple = channel.items.collect { item ->
            switch (item.kind) {
                case 'val': return item.value instanceof Map ? item.value : item.value.toString()
                case 'eval': return shell(item.value.toString())[1]
                default:
                    def found = shell("shopt -s nullglob; printf '%s\\n' ${item.value}")[1]
                    def files = found.readLines().sort().collect { new File(work, it) }
                    assert files: "no output ${item.value}"
                    return files.size() == 1 ? files[0] : files
            }
        }
        result.out[i.toString()] = [tuple]
        result.out[channel.options.emit.toString()] = [tuple]
    }
    result
}

// Files as nf-test writes them into snapshots: their name and MD5.
def plain(value) {
    switch (value) {
        case Map: return value.collectEntries { k, v -> [k, plain(v)] }
        case List: return value.collect { plain(it) }
        case File: return "${value.name}:md5,${MessageDigest.getInstance('MD5').digest(value.bytes).encodeHex()}".toString()
        default: return value
    }
}

// A file main.nf.test.
class Suite {
    String title
    File dir, module
    Map<String, Closure> tests = [:]
    Closure setupSteps
    File configFile
    void nextflow_process(Closure c) { c.delegate = this; c.resolveStrategy = Closure.DELEGATE_FIRST; c() }
    void name(String s) { title = s }
    void script(String s) { module = new File(dir, s) }
    void process(String s) { assert s == new Module(module).name }
    void config(String s) { configFile = new File(dir, s) }
    void tag(String s) {}
    void setup(Closure c) { setupSteps = c }
    void test(String name, Closure c) { tests[name] = c }
}

// One test while it runs.
class Run {
    Suite suite
    Closure runner, check
    boolean stub
    Map vars = [:]
    List setups = []
    String processText
    Closure thenSteps
    File script
    void options(String s) { stub = s == '-stub' }
    void when(Closure c) { c.delegate = this; c.resolveStrategy = Closure.DELEGATE_FIRST; c() }
    void process(Closure c) { processText = c() }
    void script(String s) { script = new File(suite.dir, s) }
    void then(Closure c) { thenSteps = c }
    void run(String name, Closure c) {
        String own = processText
        c.delegate = this; c.resolveStrategy = Closure.DELEGATE_FIRST; c()
        vars[name] = runner(script, processText)
        processText = own
    }
}

class Inputs {
    Map vars
    List input = []
    Map params
    File file(Map options = [:], String path) {
        def f = new File(path)
        assert f.exists(): "no file $path"
        f
    }
    def propertyMissing(String name) { vars[name] }
}

class Checks {
    Result process
    Closure match
    def sanitizeOutput(Map out) { out.findAll { k, v -> !k.isInteger() }.sort() }
    def snapshot(Object value) { [match: { match(value) }] }
    void assertAll(Closure... all) { all.each { it.delegate = this; it.resolveStrategy = Closure.DELEGATE_FIRST; it() } }
}

BIN = new File(args[0]).canonicalPath
TESTDATA = new File(args[1]).canonicalPath + '/'
ALL = Files.createTempDirectory('modules').toFile()
int passed = 0, failed = 0
args.drop(2).each { path ->
    def suite = new Suite(dir: new File(path).canonicalFile.parentFile)
    evaluateWith(suite, new File(path).text)
    def config = new Config()
    evaluateWith(config, suite.configFile.text)
    def snapFile = new File(path + '.snap')
    def snapshots = snapFile.exists() ? new JsonSlurper().parse(snapFile) : [:]
    def made = [:]
    suite.tests.each { name, body ->
        def run = new Run(suite: suite)
        run.runner = { File script, String text ->
            def inputs = new Inputs(vars: run.vars, params: [modules_testdata_base_path: TESTDATA])
            evaluateWith(inputs, text)
            // a channel, the output of a process, has one element here
            def values = inputs.input.collect { it instanceof List && it.size() == 1 && it[0] instanceof List ? it[0] : it }
            runProcess(new Module(script), values, config, run.stub)
        }
        try {
            body.delegate = run
            body.resolveStrategy = Closure.DELEGATE_FIRST
            body()
            if (suite.setupSteps) { run.with(suite.setupSteps.rehydrate(run, run, run)) }
            def checks = new Checks(process: run.runner(suite.module, run.processText))
            checks.match = { value ->
                made[name] = [content: [plain(value)]]
                if (!System.getenv('UPDATE')) { assert made[name].content == snapshots[name]?.content }
                true
            }
            run.thenSteps.delegate = checks
            run.thenSteps.resolveStrategy = Closure.DELEGATE_FIRST
            run.thenSteps()
            passed++
            println "ok      ${suite.title}: $name"
        } catch (AssertionError e) {
            failed++
            println "FAILED  ${suite.title}: $name\n$e.message"
        }
    }
    if (System.getenv('UPDATE')) { snapFile.text = JsonOutput.prettyPrint(JsonOutput.toJson(made)) + '\n' }
}
ALL.deleteDir()
println "$passed passed, $failed failed"
System.exit(failed ? 1 : 0)
