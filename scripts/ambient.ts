import { globSync, readFileSync } from 'node:fs'
import { join, matchesGlob } from 'node:path'
import ts from 'typescript'
import { root } from './workspace.ts'

// Holds the rule that chance, time and logging come in as arguments: a package reaches for the machine's own only in
// the files named here. Tests are free.

/** Secrets are not chance: a store makes the one that it keeps, and handles are made to be unguessable. */
const SECRETS = ['**/*-store.ts', '**/session-tokens.ts', '**/random-text.ts']
/** It replaces them, in threads that run programs. */
const VIRTUAL = ['**/virtual-clock.ts']
/** It is sent to another engine, and reaches for what is there. */
const SENT = ['**/start-node.ts']
/** They run programs of the system, which takes its own time for them. */
const MACHINES = ['**/lib/machine/**', '**/run-on-machine.ts']
const TIMERS = [
  ...SENT,
  ...MACHINES,
  '**/clock.ts',
  '**/yield-to-event-loop.ts',
  '**/lib/{redis,http,pipe,stdio,connection,transport,workers}/**',
  '**/sdk-*.ts',
]

/** What is built into the command: it owns its process, as the command does. */
const OF_THE_COMMAND = '{packages/{run,models,analysis,pages,export,play,continue,suites},satellites/{check,fleet}}/**'

/**
 * What a file may not reach for by itself, and the files that may. A call of `Date` or `new Date()` reads the clock.
 */
const AMBIENT: Readonly<Record<string, readonly string[]>> = {
  'Math.random': VIRTUAL,
  randomUUID: [...SECRETS, ...VIRTUAL],
  randomBytes: SECRETS,
  getRandomValues: [...SECRETS, ...VIRTUAL],
  'Date.now': ['**/clock.ts', '**/http/fast-path/response.ts', ...SENT, ...MACHINES],
  'Date()': ['**/clock.ts', ...MACHINES],
  'performance.now': ['**/clock.ts', ...VIRTUAL, ...MACHINES],
  setTimeout: TIMERS,
  setInterval: TIMERS,
  setImmediate: [...TIMERS, '**/sqlite/**'],
  'AbortSignal.timeout': [...TIMERS, '**/env/src/lib/rollouts.ts'],
  console: SENT,
}

/** Finds what the source of one file reaches for and may not, each as `line: name`. */
export function checkAmbient(file: string, source: string): string[] {
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true)
  const problems: string[] = []
  const visit = (node: ts.Node): void => {
    const name = ambientNameOf(node)
    if (name && !mayReach(file, name)) {
      const { line } = tree.getLineAndCharacterOfPosition(node.getStart())
      problems.push(`${line + 1}: ${name}`)
    }
    ts.forEachChild(node, visit)
  }
  visit(tree)
  return problems
}

function mayReach(file: string, name: string): boolean {
  return AMBIENT[name]?.some((pattern) => matchesGlob(file, pattern)) ?? true
}

function ambientNameOf(node: ts.Node): string | undefined {
  if (ts.isPropertyAccessExpression(node)) return knownOf(`${node.expression.getText()}.${node.name.text}`)
  if (ts.isNewExpression(node) || ts.isCallExpression(node)) {
    const reads = node.expression.getText() === 'Date' && (ts.isCallExpression(node) || !node.arguments?.length)
    return reads ? 'Date()' : undefined
  }
  if (!ts.isIdentifier(node) || isOnlyAKey(node)) return undefined
  return knownOf(node.text)
}

function knownOf(name: string): string | undefined {
  return Object.hasOwn(AMBIENT, name) ? name : undefined
}

/**
 * A key of somebody's object or type (`clock.setTimeout`, `{ console: … }`) is not the global, unless of `globalThis`.
 */
function isOnlyAKey(node: ts.Identifier): boolean {
  const { parent } = node
  if (ts.isPropertyAccessExpression(parent) && parent.name === node)
    return !['globalThis', 'crypto', 'globalThis.crypto'].includes(parent.expression.getText())
  const declares =
    ts.isPropertyAssignment(parent) ||
    ts.isPropertySignature(parent) ||
    ts.isPropertyDeclaration(parent) ||
    ts.isMethodSignature(parent) ||
    ts.isMethodDeclaration(parent)
  return declares && parent.name === node
}

if (import.meta.main) {
  const files = globSync('{packages,satellites}/*/src/**/*.ts', { cwd: root }).filter(
    (file) => !/\.(test|test-d|bench|fixture)\.ts$/.test(file) && !matchesGlob(file, OF_THE_COMMAND),
  )
  const problems = files
    .sort()
    .flatMap((file) =>
      checkAmbient(file, readFileSync(join(root, file), 'utf8')).map((problem) => `${file}:${problem}`),
    )
  for (const problem of problems) console.error(problem)
  if (problems.length > 0) {
    console.error(
      'Take chance, time and logging as arguments; the files that may reach for them are listed in scripts/ambient.ts.',
    )
    process.exitCode = 1
  }
}
