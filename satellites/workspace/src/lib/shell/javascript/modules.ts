import { absolutePath, directoryOf } from '../../disk/disk.ts'
import type { EditedDisk } from '../../disk/edited-disk.ts'
import { toText } from '../../disk/file-content.ts'
import { createAssert } from './assert.ts'
import { isFile, MODULE, OWN, REQUIRED, requiredFile } from './module-paths.ts'
import { parseModule } from './parse-module.ts'
import { NODE } from './start-node.ts'
import { createTestRunner } from './test-runner.ts'

const none = () => {}
const program = { inspect: String, now: () => 0, print: none, soon: none, atEnd: none, fail: none }
const assertNames = Object.keys(createAssert(String))
const testNames = Object.keys(createTestRunner(program))

/** What the modules of Node that are ours export. */
const OWN_EXPORTS: Readonly<Record<string, readonly string[]>> = {
  assert: assertNames,
  'assert/strict': assertNames,
  'node:assert': assertNames,
  'node:assert/strict': assertNames,
  'node:test': testNames,
}

/** Returns the path at which the engine finds what a module calls by a name. */
function specifierFor(from: string, name: string): string {
  if (OWN_EXPORTS[name]) return OWN + name
  if (name.startsWith('file:///')) return MODULE + name.slice('file://'.length)
  return /^\.{0,2}\//.test(name) ? MODULE + absolutePath(directoryOf(from), name) : name
}

/** Returns the text of a module for the engine. Throws for a file that is not there. */
export function moduleText(disk: EditedDisk, at: string): string {
  if (at.startsWith(OWN)) {
    const name = at.slice(OWN.length)
    return withExports(`${NODE}.require(${JSON.stringify(name)})`, OWN_EXPORTS[name] ?? [])
  }
  const isRequired = at.startsWith(REQUIRED)
  const path = at.slice((isRequired ? REQUIRED : MODULE).length)
  const text = toText(disk.read(path)) ?? ''
  const quoted = JSON.stringify(path)
  const define = (body: string, links: Readonly<Record<string, string>> = {}) =>
    `${NODE}.define(${quoted}, ${body}, ${JSON.stringify(links)})`
  const isJson = path.endsWith('.json')
  const parsed = isJson ? null : parseModule(text, kindOf(disk, path))
  if (isJson) {
    const value = `JSON.parse(${JSON.stringify(text)})`
    return isRequired
      ? define(`(exports, require, module) => { module.exports = ${value} }`)
      : `export default ${value}`
  }
  if (!parsed?.isCommonJs) {
    if (isRequired)
      return `import * as module$ from ${JSON.stringify(MODULE + path)}; ${define('(exports, require, module) => { module.exports = module$ }')}`
    return parsed?.rewrite({ path, specifier: (name) => specifierFor(path, name) }) ?? text
  }
  if (!isRequired)
    return `import ${JSON.stringify(REQUIRED + path)}; ${withExports(`${NODE}.require(${quoted})`, parsed.exported)}`
  const links = Object.fromEntries(
    parsed.requires.flatMap((name) => {
      const found = /^\.{0,2}\//.test(name) && requiredFile(disk, absolutePath(directoryOf(path), name))
      return found ? [[name, found]] : []
    }),
  )
  const imports = [...new Set(Object.values(links))]
    .map((file) => `import ${JSON.stringify(REQUIRED + file)};`)
    .join('')
  const body = parsed.rewrite({ path, specifier: (name) => specifierFor(path, name) }).replace(/^#!/, '//')
  return `${imports}${define(`function (exports, require, module, __filename, __dirname) {${body}\n}`, links)}`
}

/** Returns a module that exports a value, and members of it by name. */
function withExports(value: string, names: readonly string[]): string {
  const members = names.filter((name) => name !== 'default')
  const declared = members.map((name, place) => `, member${place} = value.${name}`).join('')
  const exported = members.map((name, place) => `member${place} as ${name}`).join(', ')
  return `const value = ${value}${declared}; export default value; export { ${exported} }`
}

/** What a file is by its ending, and by the nearest `package.json`. */
function kindOf(disk: EditedDisk, path: string): 'module' | 'commonjs' | 'any' {
  if (/\.m[jt]s$/.test(path)) return 'module'
  if (/\.c[jt]s$/.test(path)) return 'commonjs'
  for (let directory = path; directory !== '/'; ) {
    directory = directoryOf(directory)
    const file = absolutePath(directory, 'package.json')
    if (!isFile(disk, file)) continue
    try {
      const { type } = JSON.parse(toText(disk.read(file)) ?? '') as { readonly type?: unknown }
      return type === 'module' || type === 'commonjs' ? type : 'any'
    } catch {
      return 'any'
    }
  }
  return 'any'
}
