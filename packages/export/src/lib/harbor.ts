import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Action, EnvironmentInfo, Task } from '@episodic/protocol'
import { makeFolder } from '@episodic/run/base/own-files'

export interface HarborTask {
  readonly task: Task
  /** What the player sees first. */
  readonly observation: string
  /** Calls that solve it, and the return that they earned; `null` if none are known. */
  readonly solution: { readonly actions: readonly Action[]; readonly earned: number } | null
}

/** Where the image of Episodic has the task, and where its server leaves the reward. */
const TASK_FILE = '/app/task.jsonl'
const REWARD_FILE = '/app/runs/reward.json'
/** The world shares the network of the agent's container, so its server listens where only the two reach it. */
const URL = 'http://127.0.0.1:7337'
const SERVICE = 'world'
/** Seconds for an agent, as in a run. */
const AGENT_SECONDS = 1_800
/** Seconds without a call after which the session is lost. */
const IDLE_SECONDS = 86_400

/**
 * Writes a task as a folder that Harbor reads (`schema_version` 1.4), within a folder of tasks. Resolves with its name.
 *
 * For each trial, a container beside the agent's serves one session of the task, over MCP. When the agent has stopped,
 * `episodic sessions close` writes the reward there, which is all that the verifier passes on.
 */
export async function writeHarborTask(
  folder: string,
  { name: world, version, description }: Pick<EnvironmentInfo, 'name' | 'version' | 'description'>,
  { task, observation, solution }: HarborTask,
): Promise<string> {
  const name = `${world}-${task.id.slice(0, 12)}`
  const files: Record<string, string> = {
    'task.toml': `schema_version = "1.4"
artifacts = [{ source = "${REWARD_FILE}", service = "${SERVICE}" }]

[task]
name = ${text(`episodic/${name}`)}
description = ${text(description)}
keywords = ${list(task.tags)}

[metadata]
difficulty = ${float(task.difficulty)}
split = ${text(task.split)}

[metadata.episodic]
environment = ${text(world)}
version = ${text(version)}
task = ${text(task.id)}
${solution ? `solution_return = ${float(solution.earned)}\n` : ''}
[agent]
timeout_sec = ${AGENT_SECONDS}

[environment]
docker_image = "node:24-slim"

[[environment.mcp_servers]]
name = "${SERVICE}"
transport = "streamable-http"
url = "${URL}/mcp"

[verifier]
timeout_sec = 60
environment_mode = "separate"

[[verifier.collect]]
service = "${SERVICE}"
command = "episodic sessions close --reward-file ${REWARD_FILE}"
`,
    'instruction.md': `${[
      task.prompt,
      ...task.hints,
      observation,
      `Play with the tools of the MCP server \`${SERVICE}\`. Each answer shows what has happened. You have one attempt: it is over when an answer says so, or when you stop.`,
    ]
      .filter((part) => part.trim() !== '')
      .join('\n\n')}\n`,
    'environment/task.jsonl': `${JSON.stringify(task)}\n`,
    'environment/docker-compose.yaml': `# The world of one trial. Its image is that of the folder deploy/ of Episodic, with the world in /app/worlds.
services:
  ${SERVICE}:
    image: \${EPISODIC_IMAGE:-episodic}
    command: ${list(['serve', world, '--task', TASK_FILE, '--idle', String(IDLE_SECONDS)])}
    network_mode: service:main
    init: true
    cap_drop: [ALL]
    security_opt: ["no-new-privileges:true"]
    volumes:
      - { type: bind, source: ./task.jsonl, target: ${TASK_FILE}, read_only: true }
    healthcheck:
      test: ${list(['CMD', 'node', '-e', `fetch("${URL}/readyz").then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))`])}
      interval: 1s
      timeout: 5s
      retries: 60
`,
    'tests/test.sh': `#!/bin/sh
# The server of the world has written the reward. A trial without one has failed, and that is not a reward of 0.
if [ -f ${REWARD_FILE} ]; then cp ${REWARD_FILE} /logs/verifier/reward.json; fi
`,
    ...(solution && {
      'solution/solve.sh': '#!/bin/sh\nexec node /solution/solve.mjs\n',
      'solution/solve.mjs': SOLVE,
      'solution/calls.json': `${JSON.stringify(solution.actions, null, 2)}\n`,
    }),
  }
  for (const [path, content] of Object.entries(files)) {
    const file = join(folder, name, path)
    makeFolder(join(file, '..'))
    await writeFile(file, content, { mode: path.endsWith('.sh') ? 0o755 : 0o644 })
  }
  return name
}

/** Plays the calls of a solution, one after another. It needs nothing but Node. */
const SOLVE = `import { readFileSync } from 'node:fs'

for (const { tool, arguments: args } of JSON.parse(readFileSync(new URL('calls.json', import.meta.url), 'utf8'))) {
  const response = await fetch('${URL}/mcp', {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: tool, arguments: args } }),
  })
  const answer = await response.text()
  console.log(tool, answer)
  if (!response.ok) process.exit(1)
}
`

/** A text in TOML, which also escapes what JSON leaves as it is. */
function text(value: string): string {
  return JSON.stringify(value.toWellFormed()).replaceAll('\u007f', '\\u007f')
}

/** A list of texts in TOML, and in YAML. */
function list(values: readonly string[]): string {
  return `[${values.map(text).join(', ')}]`
}

/** A number in TOML, where a whole one without a point is of another type. */
function float(value: number): string {
  return Number.isInteger(value) ? value.toFixed(1) : String(value)
}
