import { defineTasks } from '@episodic/dataset'
import { definePolicy } from '@episodic/env'
import { defineEnvironment, type Tool } from '@episodic/mcp-server'
import type { Json, JsonObject } from '@episodic/protocol'
import { z } from 'zod'
import type { GoldenCall, GoldenCase, GoldenResult } from '../suite/golden.ts'
import { printStates, type States } from './classes.ts'
import { type BfclTask, type Category, CLASS_NAMES, type Library } from './data.ts'
import { inputSchemaOf } from './input-schema.ts'
import { createJudge, type Judge, type Progress, readGoldenCall } from './truth.ts'

export interface BfclOptions {
  readonly library: Library
  readonly category: Category
  /** What the original recorded, by the id of the task. */
  readonly golden: ReadonlyMap<string, GoldenResult>
}

/**
 * Returns a category of BFCL's multi-turn tasks as a world: a user of fixed turns, each of which ends with words of the
 * player, and the functions of the task's classes. With its tasks, a policy that plays the ground truth, and one that
 * only ends turns.
 */
export function createBfcl({ library, category, golden: recorded }: BfclOptions) {
  const given = library.tasks(category)
  const byId = new Map(given.map((task) => [task.id, { task, judge: createJudge(task, library) }]))
  const knownOf = (id: string) => byId.get(id) as { task: BfclTask; judge: Judge }

  const environment = defineEnvironment({
    name: `bfcl-${category.replace('_', '-')}`,
    version: '1.0.0',
    description: `Tasks of BFCL v4 in several turns, of its category ${category}: do what the user asks for, turn by turn.`,
    handle: 'conversation',
    speech: 'end_turn',
    params: z.object({ task: z.string().refine((id) => byId.has(id), 'no id of a task') }),
    limits: { steps: 400 },
    state: {
      public: z.object({}),
      private: z.object({
        turn: z.int(),
        calls: z.int().describe('Calls in this turn.'),
        answered: z.array(z.string()).describe('Digests of all answers so far.'),
        failed: z.string().nullable(),
        states: z.record(z.string(), z.unknown()),
      }),
    },
    readable: ['states'],
    start: ({ params }) => ({ public: {}, private: knownOf(params.task).judge.start() }),
    observe: () => '',
    offers: ({ private: { turn } }, { task: id }) => {
      const { task } = knownOf(id)
      const missing = missingIn(task, turn)
      const names = task.classes.flatMap((name) => [...library.functions(name).keys()])
      return [...names.filter((name) => !missing.has(name)), 'end_turn']
    },
    tools: ({ tool }) => {
      const functions = CLASS_NAMES.flatMap((className) =>
        [...library.functions(className).values()].map(({ name, description, parameters }) => {
          const made = tool({
            description: description + library.hint,
            input: inputSchemaOf(parameters),
            play({ state, params, input, reveal, say, end }) {
              const { judge } = knownOf(params.task)
              const progress = state.private as Progress
              const { answer, isOver } = judge.call(progress, { name, className }, input as JsonObject)
              if (isOver) end('too-many-calls')
              return say(reveal(answer))
            },
          })
          return [name, made] as const
        }),
      )
      return {
        ...(Object.fromEntries(functions) as { readonly [name: string]: Tool }),
        end_turn: tool({
          description: 'End your turn with words to the user, who answers.',
          input: z.object({ text: z.string().max(100_000).describe('What you say.') }),
          play({ state, params, say, end, reveal }) {
            const { judge, task } = knownOf(params.task)
            const progress = state.private as Progress
            if (judge.endTurn(progress)) {
              end('said-all')
              return say('')
            }
            return say(reveal(task.turns[progress.turn]?.user ?? ''))
          },
        }),
      }
    },
    rewards: {
      /** As in BFCL: 1 if each turn had the ground truth's state and answers. */
      solved: ({ end, after, params }) => (end?.kind === 'terminated' && isSolved(after.private, params.task) ? 1 : 0),
    },
    success: ({ end, state, params }) => end.kind === 'terminated' && isSolved(state.private, params.task),
  })

  function isSolved({ failed, turn }: { failed: string | null; turn: number }, id: string): boolean {
    return failed === null && turn === knownOf(id).task.turns.length
  }

  const longest = Math.max(1, ...given.map((task) => lengthOf(task)))
  const tasks = defineTasks({
    name: environment.name,
    environment,
    count: given.length,
    generate({ index }) {
      const task = given[index % given.length] as BfclTask
      return {
        prompt: task.turns[0]?.user ?? '',
        params: { task: task.id },
        difficulty: lengthOf(task) / longest,
        seed: `${environment.name} ${task.id}`,
        tags: [...task.classes],
        metadata: { task: task.id, turns: task.turns.length },
      }
    },
  })

  const callsOf = (task: BfclTask): GoldenCall[] =>
    task.turns.flatMap(({ golden }, turn) => {
      const missing = missingIn(task, turn)
      // No model can call what it is not offered.
      const offered = golden.filter(({ name }) => !missing.has(name))
      const calls = offered.map((one) => {
        const { called, given: values } = readGoldenCall(task, one, library)
        return { tool: called.name, arguments: values }
      })
      return [...calls, END]
    })

  const policyOf = (name: string, calls: (task: BfclTask) => readonly GoldenCall[]) =>
    definePolicy({
      name,
      start({ task: { params } }) {
        const left = [...calls(knownOf(params.task as string).task)]
        return () => {
          const { tool, arguments: values } = left.shift() ?? END
          return { tool, arguments: values }
        }
      },
    })

  return {
    environment,
    tasks,
    /** Plays the ground truth. */
    solver: policyOf('golden', callsOf),
    policies: { nothing: policyOf('nothing', () => []) },
    *golden(): Iterable<GoldenCase> {
      for (const task of given)
        yield {
          ...{ task: task.id, params: { task: task.id }, calls: callsOf(task) },
          expected: recorded.get(task.id) ?? null,
        }
    },
    /** The attributes of all classes that the original compares, as Python prints them. */
    goldenState: (state: { readonly private: JsonObject }): Json => ({
      ...printStates(state.private.states as States),
    }),
  }
}

const END: GoldenCall = { tool: 'end_turn', arguments: { text: '' }, answers: false }

/** Returns the functions that are held back in a turn, since a later one offers them. */
function missingIn({ turns }: BfclTask, turn: number): ReadonlySet<string> {
  return new Set(turns.slice(turn + 1).flatMap(({ offers }) => offers))
}

function lengthOf({ turns }: BfclTask): number {
  return turns.reduce((sum, { golden }) => sum + golden.length, 0)
}
