import type { JsonObject } from '@episodic/protocol'
import { serveOrs } from '@episodic/trainer-endpoints/ors'
import { driverOf } from '../../testing/players/drivers.ts'
import { type FateOf, startFateProxy } from '../fate-proxy.ts'
import { type LineProgram, startLineProgram } from '../line-program.ts'
import { openPythonEnvironment } from '../python-environment.ts'
import { callsUnknownTools, isShort, type ParityClient } from './parity-client.ts'
import type { WholeStep } from './seen-episode.ts'

const TOKEN = 'the-control-token-of-parity'

/** What happens to the calls of a client, and whether its server plays them only once they are confirmed. */
interface Fault {
  readonly name: string
  readonly fateOf: () => FateOf
  readonly confirmsCalls: boolean
}

/** Calls are lost or cut in every episode, and all answers of some. */
const FAULTS: readonly (Fault | null)[] = [
  null,
  { name: 'cut', fateOf: cutEveryCall, confirmsCalls: false },
  { name: 'confirmed', fateOf: dropEveryOther, confirmsCalls: true },
]

/** By turns, loses a call before it reaches the server, and cuts its answer after the id. What is sent again passes. */
function cutEveryCall(): FateOf {
  let calls = 0
  return ({ path, body }) => {
    if (!path.endsWith('/call') || body.includes('"task_id"')) return 'pass'
    calls += 1
    return calls % 2 === 0 ? 'cut' : 'lose'
  }
}

/** Loses the whole answer of every other call, with its id or without. */
function dropEveryOther(): FateOf {
  let calls = 0
  return ({ path }) => (path.endsWith('/call') && calls++ % 2 === 0 ? 'drop' : 'pass')
}

/** A client of the Open Reward Standard, the name of its module and the package that has it: alone and under faults. */
export function orsClients(
  { module, name }: { readonly module: string; readonly name: string },
  onMake: (text: string) => void,
): readonly ParityClient[] {
  const { python, versionOf } = openPythonEnvironment(`${name}.txt`, onMake)
  const title = `${name} ${versionOf(name)}`
  return FAULTS.map((fault) => ({
    name,
    title: fault ? `${title}, ${fault.name}` : title,
    shows: {
      opening: ['text'],
      step: ['text', 'structured', 'refused', 'reward', 'terms', 'done', 'end', 'success', 'seq'],
      total: [],
    },
    // Calls of unknown tools are errors there, which the client raises.
    plays: (reference) => !callsUnknownTools(reference) && (fault === null || isShort(reference)),
    async open(host, scripts) {
      await using cleanUp = new AsyncDisposableStack()
      const tasks = scripts.map(({ task }) => task)
      const { confirmsCalls = false, fateOf } = fault ?? {}
      const served = cleanUp.use(await serveOrs(host, { tasks, confirmsCalls, auth: { controlToken: TOKEN } }))
      const { origin } = fateOf ? cleanUp.use(await startFateProxy(served.origin, fateOf())) : served
      const client = cleanUp.use(startLineProgram(python, [driverOf('ors'), module, origin, TOKEN]))
      const owned = cleanUp.move()
      return {
        async play({ world, task, actions }) {
          const own = tasks.filter(({ environment }) => environment.name === world.name)
          const index = own.indexOf(task)
          // ors-sdk names no environment with a place, so the server takes its first one.
          const by_row = world !== scripts[0]?.world || index > 0
          const opened = (await client.ask({ environment: world.name, split: task.split, index, by_row })) as Opened
          const tools = world.environment.toolInfos.map(({ name }) => name)
          if (opened.count !== own.length || opened.task.id !== task.id || String(opened.tools) !== String(tools))
            throw new Error(`The client has another task: ${JSON.stringify(opened)}`)
          const steps: Partial<WholeStep>[] = []
          for (const { tool, arguments: input } of actions)
            steps.push(await playStep(client, { tool, arguments: input }))
          const unknown = (await client.ask({ tool: 'teleport', arguments: {} })) as Called
          if (!('error' in unknown)) throw new Error('The client called a tool that does not exist.')
          await client.ask(null)
          // The prompt and the hints of the task come first.
          return { opening: { text: opened.prompt[1 + task.hints.length] ?? '' }, steps, total: {} }
        },
        [Symbol.asyncDispose]: () => owned.disposeAsync(),
      }
    },
  }))
}

async function playStep(client: LineProgram, call: JsonObject): Promise<Partial<WholeStep>> {
  const called = (await client.ask(call)) as Called
  if ('error' in called) throw new Error(`The client raised ${called.error}: ${called.message}`)
  const { text, reward, finished, metadata } = called
  const { structured, refused, terms, end, success = null, seq } = metadata
  return { text, structured, refused, reward, terms, done: finished, end, success, seq }
}

/** What a client has of an environment and a session before the first call. */
interface Opened {
  readonly count: number
  readonly task: JsonObject
  readonly prompt: readonly string[]
  readonly tools: readonly string[]
}

/** The result of a call of a tool, or the error that the client raised. */
type Called =
  | { readonly error: string; readonly message: string }
  | {
      readonly text: string
      readonly reward: number
      readonly finished: boolean
      readonly metadata: Pick<WholeStep, 'structured' | 'refused' | 'terms' | 'end' | 'seq'> & { success?: boolean }
    }
