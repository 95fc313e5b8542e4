import { defineTasks } from '@episodic/dataset'
import { definePolicy } from '@episodic/env'
import { defineEnvironment, type Tool } from '@episodic/mcp-server'
import type { Json, JsonObject } from '@episodic/protocol'
import { z } from 'zod'
import { repr } from '../python/repr.ts'
import type { GoldenCall, GoldenCase, GoldenResult } from '../suite/golden.ts'
import { comparedOf, type States } from './classes.ts'
import type { BfclTask, Category, Library } from './data.ts'
import { inputSchemaOf } from './input-schema.ts'
import { argumentsOf, createJudge, progressSchema } from './truth.ts'

/**
 * Returns a category of BFCL's multi-turn tasks as a world: a user of fixed turns, each of which ends with words of the
 * player, and the functions of the task's classes. With its tasks, a policy that plays the ground truth, and one that
 * only ends turns.
 *
 * @param recorded - what the original recorded, by the id of the task.
 */
export function createBfcl(library: Library, category: Category, recorded: ReadonlyMap<string, GoldenResult>) {
  const given = library.tasks(category)
  const offeredTo = ({ classes }: BfclTask) =>
    classes.flatMap((name) =>
      [...library.functions.values()].flatMap((one) => (one.className === name ? one.name : [])),
    )
  const known = (task: BfclTask) => ({ task, judge: createJudge(task, library), functions: offeredTo(task) })
  const byId = new Map(given.map((task) => [task.id, known(task)]))
  const knownOf = (id: string) => byId.get(id) as ReturnType<typeof known>

  const environment = defineEnvironment({
    name: `bfcl-${category.replace('_', '-')}`,
    version: '1.0.0',
    description: `Tasks of BFCL v4 in several turns, of its category ${category}: do what the user asks for, turn by turn.`,
    handle: 'conversation',
    speech: 'end_turn',
    params: z.object({ task: z.string().refine((id) => byId.has(id), 'no id of a task') }),
    limits: { steps: 400 },
    state: { public: z.object({}), private: progressSchema },
    readable: ['states'],
    check: {
      waive: {
        'observation-empty': 'The first message of the user is the prompt, as in the original.',
        'argument-unbounded': 'Schemas are those of the original.',
        'nothing-varies': 'Scenarios are those of the original, and differ by the task alone.',
      },
    },
    start: ({ params }) => ({ public: {}, private: knownOf(params.task).judge.start() }),
    observe: () => '',
    offers: ({ private: { turn } }, { task: id }) => {
      const { task, functions } = knownOf(id)
      const missing = missingIn(task, turn)
      return [...functions.filter((name) => !missing.has(name)), 'end_turn']
    },
    tools: ({ tool }) => {
      const functions = [...library.functions.values()].map(({ name, description, parameters }) => {
        const made = tool({
          description: description + library.hint,
          input: inputSchemaOf(parameters),
          play({ state, params, input, reveal, say, end }) {
            const { answer, isOver } = knownOf(params.task).judge.call(state.private, name, input as JsonObject)
            if (isOver) end('too-many-calls')
            return say(reveal(answer))
          },
        })
        return [name, made] as const
      })
      return {
        ...(Object.fromEntries(functions) as { readonly [name: string]: Tool }),
        end_turn: tool({
          description: 'End your turn with words to the user, who answers.',
          input: z.object({ text: z.string().max(100_000).describe('What you say.') }),
          play({ state, params, say, end, reveal }) {
            const { judge, task } = knownOf(params.task)
            if (!judge.endTurn(state.private)) return say(reveal(task.turns[state.private.turn]?.user ?? ''))
            end('said-all')
            return say('')
          },
        }),
      }
    },
    rewards: {
      /** As in BFCL: 1 if each turn had the ground truth's state and answers. */
      solved: ({ end, after, params }) =>
        Number(end?.kind === 'terminated' && knownOf(params.task).judge.isSolved(after.private)),
    },
    success: ({ end, state, params }) =>
      end.kind === 'terminated' && knownOf(params.task).judge.isSolved(state.private),
  })

  const longest = Math.max(1, ...given.map(lengthOf))
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
      return [...offered.map((call) => ({ tool: call.name, arguments: argumentsOf(call, library) })), END]
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
      for (const { id } of given)
        yield { task: id, params: { task: id }, calls: callsOf(knownOf(id).task), expected: recorded.get(id) ?? null }
    },
    /** The attributes of all classes that the original compares, as Python prints them. */
    goldenState: (state: { readonly private: JsonObject }): Json => {
      const compared = comparedOf(state.private.states as States)
      return Object.fromEntries(Object.entries(compared).map(([name, attributes]) => [name, repr(attributes)]))
    },
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
