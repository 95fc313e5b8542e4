/**
 * Follows the README, the quick start and the page on evaluation as a reader does, in a fresh copy of the workspace:
 * runs every command in its order, saves and uses every program and configuration, and checks exit codes and output.
 *
 *   node scripts/readme/readme-tour.ts
 *
 * Needs the ports that the pages name (7337 for `serve`, 8000 for a model), curl, and the registry of npm packages.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, delimiter, dirname, join } from 'node:path'
import { createMcpSessions } from '@episodic/agent'
import { root } from '../workspace.ts'
import { findReaderTasks, type ReaderTask } from './readme-commands.ts'
import { serveModel } from './tour-model.ts'

/** The pages to follow, in this order. */
const PAGES = ['README.md', 'docs/start/quickstart.md', 'docs/start/evaluate.md']

/** What is printed and not run here, and why. */
const NOT_RUN: readonly (readonly [command: RegExp, why: string])[] = [
  [/^git clone /, 'the copy is what a clone would be'],
  [/^npm test/, 'it runs this tour'],
  [/ episodic view$/, 'it shows pages until it is stopped, and tests of its own look at them'],
  [/demo:stateful$/, 'it is a check of its own, "demo @episodic-example/stateful-agents"'],
]

/** What the reader types into a command that asks. */
const TYPED: readonly (readonly [command: RegExp, text: string])[] = [
  [/ episodic play /, [4, 2, 6, 1, 3, 5, 7].map((value) => `guess ${value}\n`).join('')],
]

/** What each command has to say, beside exiting with 0. A command that is not here fails the tour. */
const SAYS: readonly (readonly [command: RegExp, said: RegExp])[] = [
  [/ episodic run .* --dry-run$/, /llm:large[\s\S]*llm:small/],
  [/ episodic run .* --set first$/, /llm:small\s.*20\/20\s+0\b/],
  [/ episodic run --resume runs\/first/, /llm:small\s.*20\/20\s+0\b/],
  [/ episodic compare runs\/first$/, /2 runs against llm-large[\s\S]*steps/],
  [/ episodic bundle runs\/first/, /first\.html/],
  [/^npm start/, /4,096 finished\s+0 failed[\s\S]*report\.html/],
  [/ episodic play /, /terminated: found/],
  [/ episodic run my-world\.ts$/, /100 finished\s+0 failed/],
  [/ episodic run .* --tasks 500$/, /500 finished\s+0 failed/],
  [/ episodic check /, /higher-or-lower 1\.0\.0 passes/],
  [/ episodic replay /, /500 reproduced/],
  [/ episodic serve /, /Ctrl-C stops\./],
  [/modelcontextprotocol\/inspector/, /"name": "guess"/],
  [/curl /, /(higher|lower) than 50|50 is correct/],
  [/ worlds\/train\.ts$/, /kind: '(terminated|truncated)'/],
  [/ episodic run number-guessing --policy/, /100 finished\s+0 failed[\s\S]*success\s+100\.0 %/],
  [/ episodic run flight-booking/, /100 finished\s+0 failed/],
  [/ episodic compare /, /B solves more, and it earns more/],
]

/** What the reader has beside the clone: a model at the address that the README names, and an agent of their own. */
const MODEL_PORT = 8000
const AGENT = 'my-agent'

/** Written by npm about the machine's own settings, which no workspace can change. */
const ABOUT_THE_MACHINE = /^npm warn Unknown (user|env|global|builtin) config .*\n/gm

const temporary = await mkdtemp(join(tmpdir(), 'episodic-readme-'))
const clone = join(temporary, 'episodic')
const binaries = join(temporary, 'bin')
const environment = environmentOfReader()
const running = new Set<ChildProcess>()
let server: { readonly stop: () => Promise<void> } | undefined
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    for (const child of running) signalGroup(child, 'SIGKILL')
    process.exitCode = 130
  })

try {
  copyWorkspace()
  installAgent()
  await using _model = await serveModel(MODEL_PORT)
  const failures: string[] = []
  for (const page of PAGES)
    for (const task of findReaderTasks(readFileSync(join(root, page), 'utf8'))) {
      const start = performance.now()
      const how = await perform(task).catch((cause: Error) => {
        failures.push(`${page}:${task.line}: ${cause.message}`)
        return `failed: ${page}:${task.line}`
      })
      console.log(`${`${((performance.now() - start) / 1000).toFixed(1)} s`.padStart(7)}  ${how}`)
    }
  await server?.stop()
  if (failures.length > 0) throw new Error(failures.join('\n'))
} catch (cause) {
  console.error(cause instanceof Error ? cause.message : cause)
  process.exitCode = 1
} finally {
  for (const child of running) signalGroup(child, 'SIGKILL')
  await rm(temporary, { recursive: true, force: true })
}

/** Does one thing, and says what was done. */
async function perform(task: ReaderTask): Promise<string> {
  if (task.kind === 'save') {
    mkdirSync(join(clone, dirname(task.file)), { recursive: true })
    writeFileSync(join(clone, task.file), task.text)
    return `saved ${task.file}`
  }
  if (task.kind === 'configure') return configure(task.text)
  const { command } = task
  const [, why] = NOT_RUN.find(([pattern]) => pattern.test(command)) ?? []
  if (why !== undefined) return `not run, since ${why}: ${command}`
  if (/ episodic serve /.test(command)) {
    await server?.stop()
    server = await startServer(command)
  } else {
    const { code, output } = await run(command)
    if (code !== 0) throw new Error(`this command ended with ${code}: ${command}\n${output}`)
    checkOutput(command, output)
  }
  return command
}

/** Throws if a command did not say what it has to, or warned of something. */
function checkOutput(command: string, output: string): void {
  const [, said] = SAYS.find(([pattern]) => pattern.test(command)) ?? []
  if (!said) throw new Error(`scripts/readme/readme-tour.ts does not know what this command has to say: ${command}`)
  if (!said.test(output)) throw new Error(`this command did not say ${said}: ${command}\n${output}`)
  const warning = /^.*(\bWARN\b|npm warn|Warning:).*$/m.exec(output.replaceAll(ABOUT_THE_MACHINE, ''))
  if (warning) throw new Error(`this command warned "${warning[0].trim()}": ${command}`)
}

async function run(command: string): Promise<{ code: number | null; output: string }> {
  const { child, ended } = start(command)
  // A program that stopped reading is judged by its exit code.
  child.stdin?.on('error', () => {})
  child.stdin?.end(TYPED.find(([pattern]) => pattern.test(command))?.[1])
  return ended
}

/** Starts a server as in a terminal of its own, and returns when it has said what it has to: where it listens. */
async function startServer(command: string): Promise<{ stop: () => Promise<void> }> {
  const { child, ended, output } = start(command)
  const [, said] = SAYS.find(([pattern]) => pattern.test(command)) as (typeof SAYS)[number]
  const listening = Promise.withResolvers<void>()
  child.stdout?.on('data', () => {
    if (said.test(output())) listening.resolve()
  })
  const early = ended.then(({ code }) => {
    throw new Error(`this server ended with ${code}: ${command}\n${output()}`)
  })
  await Promise.race([listening.promise, early])
  early.catch(() => {})
  checkOutput(command, output())
  return {
    async stop() {
      // What Ctrl-C does in a terminal: every program in the foreground gets it.
      signalGroup(child, 'SIGINT')
      await ended
      if (!output().includes('"msg":"stopped"'))
        throw new Error(`this server did not stop in good order: ${command}\n${output()}`)
    },
  }
}

/** Uses a configuration as a client of MCP does that starts its servers: plays one step of each, over its pipes. */
async function configure(text: string): Promise<string> {
  const config = JSON.parse(text.replaceAll('/path/to/folder', clone))
  for (const server of Object.values<{ env?: object }>(config.mcpServers)) server.env = { PATH: environment.PATH }
  await using sessions = createMcpSessions(config)
  for (const name of Object.keys(config.mcpServers)) {
    await using session = await sessions.open(name)
    const names = session.tools.map((tool) => tool.name)
    if (!names.includes('guess')) throw new Error(`${name} has the tools ${names.join(', ')}, and no guess`)
  }
  return `connected to ${Object.keys(config.mcpServers).join(', ')} over pipes`
}

function start(command: string) {
  const child = spawn('bash', ['-e', '-o', 'pipefail', '-c', command], { cwd: clone, detached: true, env: environment })
  running.add(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  const ended = once(child, 'close').then(([code]) => {
    running.delete(child)
    return { code: code as number | null, output }
  })
  return { child, ended, output: () => output }
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  try {
    process.kill(-(child.pid as number), signal)
  } catch {
    // The group has ended by itself.
  }
}

/** Copies what a clone would have, with what is not committed yet. */
function copyWorkspace(): void {
  const folders = [...readFileSync(join(root, '.gitignore'), 'utf8').matchAll(/^(.+)\/$/gm)].map(([, name]) => name)
  const left = new Set(['.git', ...folders])
  cpSync(root, clone, { recursive: true, filter: (source) => source === root || !left.has(basename(source)) })
}

function installAgent(): void {
  const file = join(binaries, AGENT)
  mkdirSync(binaries)
  writeFileSync(file, `#!/bin/sh\nexec node '${join(clone, 'scripts/readme/tour-agent.ts')}' "$@"\n`)
  chmodSync(file, 0o755)
}

/** The environment of a reader's shell: without what npm and pnpm put into that of the programs they run. */
function environmentOfReader(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(
    ([name]) => !/^(npm_|pnpm_|PNPM_|NODE$|NODE_PATH$|INIT_CWD$)/.test(name),
  )
  const path = (process.env.PATH ?? '').split(delimiter).filter((folder) => !folder.includes('node_modules'))
  return { ...Object.fromEntries(own), PATH: [binaries, ...path].join(delimiter), NO_COLOR: '1', FORCE_COLOR: '0' }
}
