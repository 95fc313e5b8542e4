import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { invalidOption } from '@episodic/run/base/harness-error'
import { playerEnvironment } from '../player-environment.ts'
import { type Agent, type Assignment, defineAgent } from './agent.ts'
import { runAgentProcess } from './agent-process.ts'

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
 * - `OPENAI_BASE_URL`, `OPENAI_API_BASE`: the address at which its models are recorded, if they are; with their tokens,
 *   also `ANTHROPIC_BASE_URL`, `GOOGLE_GEMINI_BASE_URL` and the keys of all three.
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
  if (command.trim() === '') throw invalidOption('process: needs a command. Give process:<command>.')
  return defineAgent({
    name,
    play: (assignment) => inAgentFolder((folder) => run(command, assignment, { folder, secrets })),
  })
}

export async function inAgentFolder(play: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'episodic-agent-'))
  try {
    await play(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function run(
  command: string,
  assignment: Assignment,
  { folder, secrets }: { readonly folder: string; readonly secrets: readonly string[] },
): Promise<void> {
  const { url, task, observation, seed, signal } = assignment
  const config = join(folder, 'mcp.json')
  await writeFile(config, JSON.stringify({ mcpServers: { world: { type: 'http', url } } }), { mode: 0o600 })
  const texts = { EPISODIC_PROMPT: [task.prompt, ...task.hints].join('\n\n'), EPISODIC_OBSERVATION: observation.text }
  const given = await Promise.all(Object.entries(texts).map(([name, text]) => resolveVariables(name, text, folder)))
  signal.throwIfAborted()
  await runAgentProcess(command, {
    env: {
      ...playerEnvironment(secrets),
      EPISODIC_MCP_URL: url,
      EPISODIC_MCP_CONFIG: config,
      ...Object.assign({}, ...given),
      EPISODIC_SEED: seed,
      ...modelVariables(assignment),
    },
    folder,
    signal,
  })
}

export function modelVariables({ modelUrl: url, modelKey: key }: Assignment): Record<string, string> {
  if (url === null) return {}
  const openAi = { OPENAI_BASE_URL: url, OPENAI_API_BASE: url }
  if (key === null) return openAi
  // These clients add the version of the API.
  const root = url.replace(/\/v1$/, '')
  const roots = { ANTHROPIC_BASE_URL: root, GOOGLE_GEMINI_BASE_URL: root }
  const keys = { OPENAI_API_KEY: key, ANTHROPIC_API_KEY: key, GEMINI_API_KEY: key, GOOGLE_API_KEY: key }
  return { ...openAi, ...roots, ...keys }
}

/** Most bytes of a variable. Linux allows 131,072 with its name. */
const LONGEST_VARIABLE = 100_000

async function resolveVariables(name: string, text: string, folder: string): Promise<Record<string, string>> {
  const file = join(folder, `${name}.txt`)
  await writeFile(file, text, { mode: 0o600 })
  const fits = Buffer.byteLength(text) <= LONGEST_VARIABLE && !text.includes('\0')
  return { [`${name}_FILE`]: file, ...(fits && { [name]: text }) }
}
