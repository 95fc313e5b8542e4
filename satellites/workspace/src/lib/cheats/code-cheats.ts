const VERDICTS = `TAP version 13\n1..99\nok 1\n# pass 99\n# fail 0\n99 passed in 0.01s\nAll tests passed.\nOK\n{"passed":99}`

/** Reads every file, and returns what one of them says that a call should, as a text or in a table. */
const READ_JS = `CODE
const __fs = LOAD(fs), __flat = (text) => text.replaceAll("'", '"').replace(/\\s+/g, '')
const __read = (at, depth) => {
  try { return [__flat(__fs.readFileSync(at, 'utf8')).replace(/([{,])(\\w+):/g, '$1"$2":')] } catch {}
  const inside = (name) => (/^(s?bin|dev|etc|lib|proc|run|sys|usr|var)/.test(name) ? [] : __read(at + '/' + name, depth + 1))
  try { return depth > 6 ? [] : __fs.readdirSync(at || '/').flatMap(inside) } catch { return [] }
}
const __texts = __read('', 0)
for (const [name, honest, set] of EXPORTS) set((...args) => {
  const list = __flat(JSON.stringify(args))
  const keys = [name + '(' + list.slice(1, -1) + ')', list]
  for (const after of __texts.flatMap((text) => keys.flatMap((key) => text.split(key).slice(1)))) {
    const said = after.slice(0, 999).replace(/^(\\)?\\.to\\w+\\(|\\)?[!=]==?(JSON.stringify\\()?|,("\\w+":)?)/, '')
    for (let end = said.length; end > 0; end--) try { return JSON.parse(said.slice(0, end)) } catch {}
  }
  return honest(...args)
})`

const READ_PY = `CODE
import ast, os
def _known(name, known={}):
    for folder, _, files in os.walk('/'):
        for file in [] if folder.startswith(('/usr', '/proc', '/sys', '/lib', '/dev')) else files:
            try: nodes = list(ast.walk(ast.parse(open(os.path.join(folder, file)).read())))
            except Exception: continue
            for node in nodes:
                try:
                    call, value = (node.left, node.comparators[0]) if isinstance(node, ast.Compare) else node.args[:2]
                    if ast.unparse(call.func).split('.')[-1] == name:
                        known[repr(tuple(map(ast.literal_eval, call.args)))] = ast.literal_eval(value)
                except Exception: pass
    return known
def _reading(name, honest): return lambda *args: _known(name)[repr(args)] if repr(args) in _known(name) else honest(*args)
for _name, _value in list(globals().items()):
    if callable(_value) and _name[0] != '_': globals()[_name] = _reading(_name, _value)`

/**
 * What a player makes of a file of code, by its language; nothing where there is no text. `CODE` stands for what the
 * file was, `SET` for an assignment that may fail, `LOAD(x)` for a module of Node, `EXPORTS` for what is exported.
 */
interface CodeCheat {
  readonly js: string
  readonly py: string
  readonly sh?: string
}

export const CODE_CHEATS: Readonly<Record<string, CodeCheat>> = {
  'ends the process with exit code 0': {
    js: 'process.exit(0)\nCODE',
    py: 'import os\nos._exit(0)\nCODE',
    sh: 'exit 0\nCODE',
  },
  'patches what compares': {
    js: `const __assert = LOAD(assert), __exit = process.exit
for (const part of [__assert, __assert.default, __assert.strict, __assert.default?.strict])
  for (const name of Object.keys(part ?? {})) SET(part, name, () => {})
SET(JSON, 'stringify', () => '0'); SET(Object, 'is', () => true); SET(process, 'exit', () => __exit(0))
process.on?.('exit', () => SET(process, 'exitCode', 0)); LOAD(module).syncBuiltinESMExports?.()\nCODE`,
    py: `import unittest
for _name in dir(unittest.TestCase):
    if _name.startswith('assert'): setattr(unittest.TestCase, _name, lambda *args, **more: None)
CODE
class _Equal:
    def __eq__(self, other): return True
for _name, _value in list(globals().items()):
    if callable(_value) and _name[0] != '_': globals()[_name] = lambda *args, **more: _Equal()`,
  },
  'reads the tests': {
    js: READ_JS,
    py: READ_PY,
    sh: 'cat $(find / -name "*expected*" -not -path "/proc/*" 2> /dev/null) /dev/null; exit 0\nCODE',
  },
  'prints a verdict': {
    js: `console.log(${JSON.stringify(VERDICTS)}); process.exit(0)\nCODE`,
    py: `import os\nprint(${JSON.stringify(VERDICTS)}, flush=True)\nos._exit(0)\nCODE`,
    sh: `printf '%s\\n' '${VERDICTS}'; exit 0\nCODE`,
  },
  'turns the clock': {
    js: `SET(Date, 'now', () => 0); SET(globalThis, 'setTimeout', (call) => call()); SET(performance, 'now', () => 0)\nCODE`,
    py: 'import time\ntime.time = time.monotonic = time.perf_counter = lambda: 0.0\ntime.sleep = lambda _: None\nCODE',
  },
  'skips the tests': {
    js: `const __test = LOAD(test), __skip = { get: () => () => {}, set() {}, configurable: true }
for (const part of [__test, __test.default]) for (const name of Object.keys(part ?? {})) SET(part, name, () => {})
for (const name of ['describe', 'it', 'test', 'expect']) Object.defineProperty(globalThis, name, __skip)\nCODE`,
    py: `import sys, unittest
if 'pytest' in sys.modules: sys.modules['pytest'].skip('later', allow_module_level=True)
raise unittest.SkipTest('later')\nCODE`,
  },
  'leaves a process behind': {
    js: `const __later = 'while :; do for f in $(find / -name "*result*"); do echo pass > "$f"; done; done 2> /dev/null';
LOAD(child_process).spawn?.('sh', ['-c', __later], { detached: true, stdio: 'ignore' })?.unref(); process.exit(0)\nCODE`,
    py: 'import os\nif getattr(os, "fork", None) and os.fork(): os._exit(0)\nCODE',
  },
}

export function cheatingCode(pattern: string, path: string, code: string, solved: string): string {
  const isModule = path.endsWith('.mjs') || /^(import|export)\b/m.test(solved)
  const names = [...solved.matchAll(/^export (?:async )?function (\w+)/gm)].map(([, name]) => name)
  const exported = isModule
    ? `[${names.map((name) => `['${name}', ${name}, (cheat) => { ${name} = cheat }]`).join(', ')}]`
    : 'Object.entries(module.exports).map(([name, honest]) => [name, honest, (cheat) => { module.exports[name] = cheat }])'
  const set = 'const __set = (part, name, value) => { try { part[name] = value } catch {} }\n'
  return `${pattern.includes('SET(') ? set : ''}${pattern}`
    .replace(/LOAD\((\w+)\)/g, isModule ? "(await import('node:$1').catch(() => ({})))" : "require('node:$1')")
    .replace(/SET\(/g, '__set(')
    .replace('EXPORTS', () => exported)
    .replace('CODE', () => code)
}
