import { spawn } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { json } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { connect, type StepResult } from '@episodic/env'
import { createHost, type Host, inProcess } from '@episodic/mcp-server'
import type { Action, JsonObject, Task } from '@episodic/protocol'
import type { Check } from '../check-parts.ts'
import { freePort } from '../free-port.ts'
import { NEMO_GYM_SHOWS, type RolloutResult, seenRollout } from '../parity/nemo-gym-client.ts'
import { expectedOf, type SeenEpisode } from '../parity/seen-episode.ts'
import { playNumberGuessing } from '../worlds/play-number-guessing.ts'
import { WORLDS, type World } from '../worlds/world.ts'

const PAGE = new URL('../../docs/play/nemo-gym.md', import.meta.url)
const NUMBER_GUESSING = dirname(fileURLToPath(import.meta.resolve('@episodic-world/number-guessing')))
/** The folder that the page says to copy. */
const COPIED = fileURLToPath(new URL('../../clients/nemo-gym', import.meta.url))
const PACKAGE = fileURLToPath(new URL('../../clients/python/src', import.meta.url))
const COMMANDS = fileURLToPath(new URL('../../node_modules/.bin', import.meta.url))

/** The servers that `gym` starts for the configuration of the page. */
const SERVERS = [
  'resources_servers/episodic',
  'responses_api_agents/simple_agent',
  'responses_api_models/openai_model',
  'environment_servers/legacy_agent',
]

/** A line of the file that `gym eval run` writes. */
type Rollout = RolloutResult & { readonly episodic: JsonObject }

/**
 * Plays with NeMo Gym's own command, by the files and the commands of its page, with a model that halves. Compares each
 * rollout that it writes with the same calls in the process of the host.
 *
 * @param python - the interpreter of an environment that has `nemo-gym`: each server runs in it.
 */
export async function playCommand(python: string, check: Check): Promise<void> {
  await using cleanUp = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'episodic-nemo-gym-'))
  cleanUp.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }))
  const host = cleanUp.use(createHost({ environments: WORLDS.map(({ environment }) => environment) }))
  const model = cleanUp.use(await startModel())
  const page = await readFile(PAGE, 'utf8')
  const block = (kind: string, mark: string) => {
    const found = [...page.matchAll(/^```(\w+)\n(.*?)^```$/gms)].find(
      ([, is, text]) => is === kind && text?.includes(mark),
    )
    if (!found) throw new Error(`The page of NeMo Gym has no ${kind} with ${mark}.`)
    return found[2] as string
  }
  await cp(COPIED, folder, { recursive: true })
  const configuration = (await readFile(join(folder, 'episodic.yaml'), 'utf8'))
    .replace('8001', String(await freePort()))
    .replace('[taxi]', JSON.stringify([NUMBER_GUESSING]))
  const venvs = `uv_venv_dir: ${folder}/venvs\nskip_venv_if_present: true\n`
  await writeFile(join(folder, 'episodic.yaml'), `${configuration}${venvs}`)
  for (const name of SERVERS) {
    await mkdir(join(folder, 'venvs', name), { recursive: true })
    await symlink(dirname(dirname(python)), join(folder, 'venvs', name, '.venv'))
  }
  const commands = block('sh', 'gym eval run')
    .replaceAll(' taxi', ` ${NUMBER_GUESSING}`)
    .replace('http://127.0.0.1:8000/v1', model.url)
  const said = await run(`set -e\n${commands}`, folder, [COMMANDS, dirname(python)])
  check('the commands of the page', said, null)
  if (said !== null) return
  const rows = await readLines(join(folder, 'rows.jsonl'))
  const rollouts = (await readLines(join(folder, 'rollouts.jsonl'))) as unknown as Rollout[]
  check('the rollouts', rollouts.map(({ episodic }) => episodic.seed).sort(), rows.map(seedOf).sort())
  for (const rollout of rollouts) {
    const shown = seenRollout(host, 'number-guessing', rollout)
    check(`the rollout of seed ${rollout.episodic.seed}`, shown, await playCalls(host, rollout))
  }
}

/** Plays the calls of a rollout in the process of the host, and resolves with what an agent sees of them. */
async function playCalls(host: Host, { episodic, response }: Rollout): Promise<SeenEpisode> {
  const world = WORLDS.find(({ name }) => name === episodic.environment) as World
  const calls = response.output.filter(({ type }) => type === 'function_call')
  const actions = calls.map(
    (item): Action => ({
      tool: String(item.name),
      arguments: JSON.parse(String(item.arguments)),
    }),
  )
  await using connection = await connect(inProcess(host))
  await using environment = connection.environment(world.name)
  const asked = episodic as unknown as Pick<Task, 'params' | 'seed'>
  const { observation: opening } = await environment.reset({ params: asked.params }, { seed: asked.seed })
  const steps: StepResult[] = []
  for (const action of actions) steps.push(await environment.step(action))
  const script = { world, task: {} as Task, index: 0, actions }
  return expectedOf({ script, opening, steps }, NEMO_GYM_SHOWS)
}

/** Runs commands of a shell, and resolves with what they wrote if they fail; with `null` if they do not. */
function run(commands: string, folder: string, path: readonly string[]): Promise<string | null> {
  const env = { ...process.env, PATH: [...path, process.env.PATH].join(':'), PYTHONPATH: PACKAGE }
  const shell = spawn('bash', ['-c', commands], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let written = ''
  for (const stream of [shell.stdout, shell.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      written = (written + text).slice(-8_000)
    })
  return new Promise((resolve, reject) => {
    shell.on('error', reject)
    shell.on('close', (status) => resolve(status === 0 ? null : written))
  })
}

async function readLines(path: string): Promise<JsonObject[]> {
  const lines = (await readFile(path, 'utf8')).split('\n').filter((line) => line !== '')
  return lines.map((line) => JSON.parse(line) as JsonObject)
}

function seedOf({ episodic }: JsonObject): unknown {
  return (episodic as JsonObject).seed
}

interface ResponsesRequest {
  readonly model: string
  readonly tools?: readonly JsonObject[]
  readonly input: readonly JsonObject[]
}

/** Starts a server of OpenAI's Responses API, whose model halves the range by what the conversation shows. */
async function startModel(): Promise<{ readonly url: string } & AsyncDisposable> {
  const server = createServer(async (incoming, response) => {
    response.setHeader('content-type', 'application/json')
    // `gym` asks for the list of models to see whether the server is there.
    if (incoming.method === 'GET') return void response.end(JSON.stringify({ object: 'list', data: [] }))
    const { model, input, tools = [] } = (await json(incoming)) as ResponsesRequest
    const outputs = input.filter(({ type }) => type === 'function_call_output').map(({ output }) => String(output))
    const play = playNumberGuessing()
    let action = play(JSON.stringify(input[0]))
    const isOver = outputs.at(-1)?.includes('"correct"') === true
    if (!isOver) for (const output of outputs) action = play(output)
    const id = `item_${outputs.length}`
    const call = { type: 'function_call', call_id: `call_${outputs.length}`, name: action.tool }
    const content = [{ type: 'output_text', text: 'Found.', annotations: [] }]
    const item = isOver
      ? { id, type: 'message', role: 'assistant', status: 'completed', content }
      : { id, ...call, arguments: JSON.stringify(action.arguments), status: 'completed' }
    const choice = { parallel_tool_calls: false, tool_choice: 'auto', tools }
    response.end(JSON.stringify({ id: 'resp', object: 'response', created_at: 0, model, ...choice, output: [item] }))
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
