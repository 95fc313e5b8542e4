import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { lastOf } from '@episodic/protocol/internal'
import { cleanText } from '@episodic/report'
import { HarnessError } from '../../base/harness-error.ts'
import { playerEnvironment } from '../player-environment.ts'
import { type Agent, type Assignment, defineAgent } from './agent.ts'

/** Milliseconds between asking a process to stop and killing it. */
const GRACE = 2_000
/** Characters of its last output that are kept, and that an error message quotes. */
const KEPT_OUTPUT = 8_000
const QUOTED_OUTPUT = 500

/**
 * An agent that is a shell command, started for each episode. Its environment is that of {@link playerEnvironment},
 * with:
 *
 * - `EPISODIC_MCP_URL`: the session URL,
 * - `EPISODIC_MCP_CONFIG`: an `mcpServers` JSON file with the same URL, as server `world`,
 * - `EPISODIC_PROMPT_FILE`, `EPISODIC_OBSERVATION_FILE`: files with the task and its hints, and with the first
 *   observation,
 * - `EPISODIC_PROMPT`, `EPISODIC_OBSERVATION`: the same texts; left out above 100,000 bytes or with a NUL character,
 *   which no variable can hold,
 * - `EPISODIC_SEED`: the seed of the agent,
 * - `OPENAI_BASE_URL`, `OPENAI_API_BASE`: the address at which its models are recorded, if they are.
 *
 * Status 0 means that the agent has stopped; another status fails the episode, unless it had ended by then. When the
 * episode has ended, the process group is asked to stop, and killed 2 s later. The group is killed at once when its
 * shell ends, and if this process is killed. A daemon that leaves the group is not found.
 *
 * Throws `option-invalid` for an empty command.
 *
 * @param name - its name in records.
 * @param secrets - what no variable of its environment may hold.
 */
export function createProcessAgent(name: string, command: string, secrets: readonly string[] = []): Agent {
  if (command.trim() === '')
    throw new HarnessError('option-invalid', 'process: needs a command. Give process:<command>.')
  return defineAgent({
    name,
    async play(assignment) {
      const folder = await mkdtemp(join(tmpdir(), 'episodic-agent-'))
      try {
        await run(command, assignment, { folder, secrets })
      } finally {
        await rm(folder, { recursive: true, force: true })
      }
    },
  })
}

/**
 * Kills the whole group when this process is gone, however it ended: file descriptor 3 is a pipe to which nothing is
 * ever written, and which then closes. The command itself does not inherit the pipe.
 */
const ENDS_WITH_US = `(trap '' TERM; read -r _ <&3; kill -9 0) >/dev/null 2>&1 &
exec 3<&-
`

async function run(
  command: string,
  assignment: Assignment,
  { folder, secrets }: { readonly folder: string; readonly secrets: readonly string[] },
): Promise<void> {
  const { url, task, observation, seed, modelUrl, signal } = assignment
  const config = join(folder, 'mcp.json')
  await writeFile(config, JSON.stringify({ mcpServers: { world: { type: 'http', url } } }), { mode: 0o600 })
  const texts = { EPISODIC_PROMPT: [task.prompt, ...task.hints].join('\n\n'), EPISODIC_OBSERVATION: observation.text }
  const given = await Promise.all(Object.entries(texts).map(([name, text]) => resolveVariables(name, text, folder)))
  signal.throwIfAborted()
  const child = spawn(`${ENDS_WITH_US}${command}`, {
    shell: true,
    // In its own process group, so that everything that it starts ends with it.
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    env: {
      ...playerEnvironment(secrets),
      EPISODIC_MCP_URL: url,
      EPISODIC_MCP_CONFIG: config,
      ...Object.assign({}, ...given),
      EPISODIC_SEED: seed,
      ...(modelUrl && { OPENAI_BASE_URL: modelUrl, OPENAI_API_BASE: modelUrl }),
    },
  })
  const stderr = child.stderr as Readable
  let output = ''
  stderr.setEncoding('utf8').on('data', (text: string) => {
    output = lastOf(output + text, KEPT_OUTPUT)
  })
  const exited = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  const kill = (how: NodeJS.Signals) => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, how)
    } catch {
      // The group has ended.
    }
  }
  let last: NodeJS.Timeout | undefined
  const stop = () => {
    kill('SIGTERM')
    last = setTimeout(() => kill('SIGKILL'), GRACE)
  }
  // If this process exits first, end everything that it started.
  const stay = endAtExit(() => {
    kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  })
  signal.addEventListener('abort', stop, { once: true })
  try {
    const [status, how] = await exited
    // The rest of its group ends too. A daemon that left the group may keep the pipe open.
    if (!signal.aborted) kill('SIGKILL')
    await finished(stderr, { signal: AbortSignal.timeout(GRACE) }).catch(() => {})
    if (status === 0 || signal.aborted) return
    throw new HarnessError('policy-failed', `The agent ended with ${how ?? `status ${status}`}${quoted(output)}`)
  } finally {
    signal.removeEventListener('abort', stop)
    stay()
    clearTimeout(last)
    kill('SIGKILL')
    stderr.destroy()
  }
}

/** Most bytes of a variable. Linux allows 131,072 with its name. */
const LONGEST_VARIABLE = 100_000

/** Writes a text to a file. Resolves with the variables that give the text and its file. */
async function resolveVariables(name: string, text: string, folder: string): Promise<Record<string, string>> {
  const file = join(folder, `${name}.txt`)
  await writeFile(file, text, { mode: 0o600 })
  const fits = Buffer.byteLength(text) <= LONGEST_VARIABLE && !text.includes('\0')
  return { [`${name}_FILE`]: file, ...(fits && { [name]: text }) }
}

const running = new Set<() => void>()
const endAll = () => {
  for (const end of running) end()
}

/** Calls `end` when this process exits, unless the returned function is called first. All share one listener. */
function endAtExit(end: () => void): () => void {
  if (running.size === 0) process.on('exit', endAll)
  running.add(end)
  return () => {
    running.delete(end)
    if (running.size === 0) process.off('exit', endAll)
  }
}

/** Quotes the end of its output, without stack frames. */
function quoted(output: string): string {
  const words = output.replaceAll(/^\s+at .*\n?/gm, '').trim()
  return words === '' ? '.' : `: ${cleanText(lastOf(words, QUOTED_OUTPUT))}`
}
