import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { HarnessError } from '../harness-error.ts'
import { cleanText } from '../report/plots/format.ts'
import { type Agent, type Assignment, defineAgent } from './agent.ts'

/** Milliseconds between asking a process to stop and ending it. */
const GRACE = 2_000
/** Characters of what it said last that are held, and of these that go into a failure. */
const HEARD = 8_000
const TOLD = 500

/**
 * An agent that is a command of its own, started in a shell for each episode. It finds in its environment:
 *
 * - `EPISODIC_MCP_URL`: the address of its session,
 * - `EPISODIC_MCP_CONFIG`: a file with the same as `mcpServers` JSON, its server called `world`,
 * - `EPISODIC_PROMPT`, `EPISODIC_OBSERVATION`: what it is asked, hints included, and how the world stands,
 * - `EPISODIC_SEED`: its own chance.
 *
 * It has had enough when it ends with 0; another status fails the episode, unless the world was over by then. Its process
 * group is asked to stop when the world has ended, and ended 2 s later; it ends at once with a program that leaves
 * before, and where this process is killed. A daemon, which leaves the group, is not found.
 *
 * Throws `option-invalid` for an empty command.
 *
 * @param name - what it is called in records.
 */
export function createProcessAgent(name: string, command: string): Agent {
  if (command.trim() === '')
    throw new HarnessError('option-invalid', 'process: starts a command, and none was given: process:<command>.')
  return defineAgent({
    name,
    async play(assignment) {
      const folder = await mkdtemp(join(tmpdir(), 'episodic-agent-'))
      try {
        await run(command, assignment, folder)
      } finally {
        await rm(folder, { recursive: true, force: true })
      }
    },
  })
}

/**
 * Ends the whole group where this process is gone, however it went: then the pipe that nothing is ever written to ends.
 * What is started after it does not have the pipe.
 */
const ENDS_WITH_US = `(trap '' TERM; read -r _ <&3; kill -9 0) >/dev/null 2>&1 &
exec 3<&-
`

async function run(command: string, assignment: Assignment, folder: string): Promise<void> {
  const { url, task, observation, seed, signal } = assignment
  const config = join(folder, 'mcp.json')
  await writeFile(config, JSON.stringify({ mcpServers: { world: { type: 'http', url } } }), { mode: 0o600 })
  signal.throwIfAborted()
  const child = spawn(`${ENDS_WITH_US}${command}`, {
    shell: true,
    // A group of its own, so that whatever it starts ends with it.
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    env: {
      ...withoutSecrets(process.env),
      EPISODIC_MCP_URL: url,
      EPISODIC_MCP_CONFIG: config,
      EPISODIC_PROMPT: [task.prompt, ...task.hints].join('\n\n'),
      EPISODIC_OBSERVATION: observation.text,
      EPISODIC_SEED: seed,
    },
  })
  const stderr = child.stderr as Readable
  let said = ''
  stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-HEARD)
  })
  const exited = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  const kill = (how: NodeJS.Signals) => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, how)
    } catch {
      // All of it has ended.
    }
  }
  let last: NodeJS.Timeout | undefined
  const stop = () => {
    kill('SIGTERM')
    last = setTimeout(() => kill('SIGKILL'), GRACE)
  }
  // Where this process dies first, nobody else ends what was started.
  const stay = endAtExit(() => {
    kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  })
  signal.addEventListener('abort', stop, { once: true })
  try {
    const [status, how] = await exited
    // What it left in its group ends with it. A daemon, which left the group, may hold the pipe for ever.
    if (!signal.aborted) kill('SIGKILL')
    await finished(stderr, { signal: AbortSignal.timeout(GRACE) }).catch(() => {})
    if (status === 0 || signal.aborted) return
    throw new HarnessError('policy-failed', `The agent ended with ${how ?? `status ${status}`}${told(said)}`)
  } finally {
    signal.removeEventListener('abort', stop)
    stay()
    clearTimeout(last)
    kill('SIGKILL')
    stderr.destroy()
  }
}

const running = new Set<() => void>()
const endAll = () => {
  for (const end of running) end()
}

/** Has something done where this process exits, until what it returns is called. One listener serves all. */
function endAtExit(end: () => void): () => void {
  if (running.size === 0) process.on('exit', endAll)
  running.add(end)
  return () => {
    running.delete(end)
    if (running.size === 0) process.off('exit', endAll)
  }
}

/** The end of what it said, without the lines of a stack. */
function told(said: string): string {
  const words = said.replaceAll(/^\s+at .*\n?/gm, '').trim()
  return words === '' ? '.' : `: ${cleanText(words.slice(-TOLD))}`
}

/** The agent is on the side that must not know: the token of the trainer endpoint is not for it. */
function withoutSecrets({ EPISODIC_TOKEN: _, ...rest }: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return rest
}
