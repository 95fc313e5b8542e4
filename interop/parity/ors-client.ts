import { fileURLToPath } from 'node:url'
import type { JsonObject } from '@episodic/protocol'
import { serveOrs } from '@episodic/trainer-endpoints/ors'
import { type LineProgram, startLineProgram } from '../line-program.ts'
import { openPythonEnvironment } from '../python-environment.ts'
import type { ParityClient } from './parity-client.ts'
import type { WholeStep } from './seen-episode.ts'

const TOKEN = 'the-control-token-of-parity'

/** A client of the Open Reward Standard: the name of its module, and the package that has it. */
export function orsClient(
  { module, name }: { readonly module: string; readonly name: string },
  onMake: (text: string) => void,
): ParityClient {
  const { python, versionOf } = openPythonEnvironment(`${name}.txt`, onMake)
  return {
    name,
    title: `${name} ${versionOf(name)}`,
    shows: {
      opening: ['text'],
      step: ['text', 'structured', 'refused', 'reward', 'terms', 'done', 'end', 'success', 'seq'],
      total: [],
    },
    // They are errors there, which the client raises.
    stepsUnknownTools: false,
    async open(host, scripts) {
      await using cleanUp = new AsyncDisposableStack()
      const tasks = scripts.map(({ task }) => task)
      const { origin } = cleanUp.use(await serveOrs(host, { tasks, auth: { controlToken: TOKEN } }))
      const program = fileURLToPath(new URL('../python/ors_client.py', import.meta.url))
      const client = cleanUp.use(startLineProgram(python, [program, module, origin, TOKEN]))
      const owned = cleanUp.move()
      return {
        async play({ world, task, actions }) {
          const index = tasks.filter(({ environment }) => environment.name === world.name).indexOf(task)
          const place = { environment: world.name, split: task.split, index, by_row: true }
          const { prompt } = (await client.ask(place)) as { readonly prompt: readonly string[] }
          const steps: Partial<WholeStep>[] = []
          for (const { tool, arguments: input } of actions)
            steps.push(await playStep(client, { tool, arguments: input }))
          await client.ask(null)
          // The prompt and the hints of the task come first.
          return { opening: { text: prompt[1 + task.hints.length] ?? '' }, steps, total: {} }
        },
        [Symbol.asyncDispose]: () => owned.disposeAsync(),
      }
    },
  }
}

async function playStep(client: LineProgram, call: JsonObject): Promise<Partial<WholeStep>> {
  const called = (await client.ask(call)) as Called
  if ('error' in called) throw new Error(`The client raised ${called.error}: ${called.message}`)
  const { text, reward, finished, metadata } = called
  const { structured, refused, terms, end, success = null, seq } = metadata
  return { text, structured, refused, reward, terms, done: finished, end, success, seq }
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
