import { hash } from 'node:crypto'
import { defineTasks } from '@episodic/dataset'
import { definePolicy } from '@episodic/env'
import { defineEnvironment } from '@episodic/mcp-server'
import { type Disk, type Machine, readFile, startWorkspace, workspaceState, workspaceTools } from '@episodic/workspace'
import { z } from 'zod'
import { type Exercise, listExercises, type Published, readExercise } from './exercises.ts'
import { runTests, TEST_SECONDS } from './run-tests.ts'

export interface PolyglotOptions {
  readonly data: string
  /** The folder with what the tests are run with, which the machine sees too. */
  readonly kit: string
  readonly machine: Machine
  readonly published: Published
}

const TRIES = 2

/** Seconds that tests may wait for the machine. */
const WAITING = 3_600

/** Returns the exercises as a world, with its tasks, a policy that hands golden files in, and one that does nothing. */
export function createPolyglot({ data, kit, machine, published }: PolyglotOptions) {
  const names = listExercises(data).filter((name) => Object.hasOwn(published, name)) as [string, ...string[]]
  const read = new Map<string, Exercise>()
  const exerciseOf = (name: string) => {
    const exercise = read.get(name) ?? readExercise(data, name, published)
    read.set(name, exercise)
    return exercise
  }

  const environment = defineEnvironment({
    name: 'polyglot',
    version: '1.0.0',
    description: 'An exercise of Exercism: write the files so that hidden tests pass.',
    handle: 'exercise',
    params: z.object({ exercise: z.enum(names) }),
    limits: { steps: 60 },
    state: {
      public: z.object({ tries: z.int().min(0).max(TRIES).describe('How often the tests may still be run.') }),
      private: z.object(workspaceState),
    },
    start: ({ params }) => ({ public: { tries: TRIES }, private: startWorkspace(exerciseOf(params.exercise).given) }),
    observe: ({ tries }, { exercise }) => `${promptOf(exerciseOf(exercise))}\n\nTries left: ${tries}.`,
    tools: ({ tool }) => {
      const { read_file, write_file, edit_file, list_files } = workspaceTools(tool, { cwd: '/workspace' })
      return {
        read_file,
        write_file,
        edit_file,
        list_files,
        submit: tool({
          description: `Run the hidden tests. There are ${TRIES} tries; after the first, you read what the tests printed.`,
          input: z.object({}),
          prepared: z.object({ passed: z.boolean(), output: z.string() }),
          prepareSeconds: TEST_SECONDS + WAITING,
          annotations: { openWorldHint: false },
          prepare: ({ state, params, signal }) =>
            runTests(exerciseOf(params.exercise), { player: state.private.disk as Disk, machine, kit }, signal),
          play({ state, prepared: { passed, output }, params, reveal, say, end }) {
            state.public.tries -= 1
            if (passed) end(state.public.tries === TRIES - 1 ? 'solved-first' : 'solved-second')
            else if (state.public.tries === 0) end('failed')
            if (reveal(passed)) return say('All tests pass.')
            const { solution } = exerciseOf(params.exercise)
            return say(
              `${reveal(output)}\n\nThese tests are right, and fail. Change ${solution.join(' and ')} so that they pass.`,
            )
          },
        }),
      }
    },
    rewards: { solved: ({ end }) => (end?.reason.startsWith('solved') ? 1 : 0) },
    success: ({ end }) => end.reason.startsWith('solved'),
  })

  const tasks = defineTasks({
    name: 'polyglot',
    environment,
    count: names.length,
    generate({ index }) {
      const exercise = names[index % names.length] as string
      return {
        prompt: `Solve an exercise: ${exercise}.`,
        params: { exercise },
        difficulty: 0,
        // No text of an exercise has it, since no answer may.
        seed: hash('sha256', `polyglot ${exercise}`),
        tags: [exercise.split('/')[0] as string],
      }
    },
  })

  /** Writes the solution of the author, and submits. */
  const solver = definePolicy(environment, {
    name: 'golden',
    start({ task: { params } }) {
      const writes = Object.entries(exerciseOf(params.exercise).golden)
      return () => {
        const [path, content] = writes.shift() ?? []
        if (path === undefined || content === undefined) return { tool: 'submit', arguments: {} }
        return { tool: 'write_file', arguments: { path, content } }
      }
    },
  })

  /** Submits what the exercise begins with. */
  const stub = definePolicy(environment, { name: 'stub', start: () => () => ({ tool: 'submit', arguments: {} }) })

  return { environment, tasks, solver, policies: { stub } }
}

function promptOf({ instructions, given, solution }: Exercise): string {
  const files = solution.flatMap((path) => {
    const text = readFile(given, path)
    return text === null ? [] : [`${path}\n\`\`\`\n${text}\`\`\``]
  })
  return `${instructions}
Write ${solution.join(' and ')} so that the hidden tests pass, and call submit. Keep the names of what is there, since tests use them, and use the
standard library alone. This is what the files begin with:

${files.join('\n\n')}`
}
