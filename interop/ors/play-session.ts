import type { JsonObject, Task } from '@episodic/protocol'
import type { Check } from '../check-parts.ts'
import type { LineProgram } from '../line-program.ts'
import { type ReferenceEpisode, rewardOf } from '../worlds/reference-episode.ts'
import { WORLDS, type World } from '../worlds/world.ts'

/** What a client has of an environment and a session before the first call. */
interface Opened {
  readonly splits: readonly string[]
  readonly count: number
  readonly task: JsonObject
  readonly prompt: readonly string[]
  readonly tools: readonly string[]
}

/** The result of a call of a tool, or the error that the client raised. */
type Called =
  | {
      readonly text: string
      readonly reward: number | null
      readonly finished: boolean
      readonly metadata: JsonObject
      readonly error?: undefined
    }
  | { readonly error: string; readonly reason: string | null; readonly message: string }

export interface Setting {
  readonly client: LineProgram
  readonly world: World
  /** The tasks of the split `train`. */
  readonly tasks: readonly Task[]
  readonly index: number
  readonly rewards: 'steps' | 'return'
  readonly reference: ReferenceEpisode
}

/**
 * Plays the actions of a reference episode through a client, and calls `check` with everything that has to be equal.
 */
export async function playSession(
  { client, world, tasks, index, rewards, reference }: Setting,
  check: Check,
): Promise<void> {
  const task = tasks[index] as Task
  const place = { environment: world.name, split: 'train', index }
  // ors-sdk names no environment with a place, so the server takes its first one.
  const opened = (await client.ask({ ...place, by_row: world !== WORLDS[0] || index > 0 })) as Opened
  check('the splits', opened.splits.includes('train'), true)
  check('the number of tasks', opened.count, tasks.length)
  check('the task', opened.task.id, task.id)
  check('the prompt', opened.prompt, [task.prompt, ...task.hints, reference.observation])
  check(
    'the tools',
    opened.tools,
    world.environment.toolInfos.map(({ name }) => name),
  )
  const call = async ({ tool, arguments: input }: { tool: string; arguments: JsonObject }) =>
    (await client.ask({ tool, arguments: input })) as Called
  check('an unknown tool', outline(await call({ tool: 'teleport', arguments: {} })), { error: 'ToolCallError' })
  let total = 0
  for (const [step, logged] of reference.steps.entries()) {
    const { action, observation, report } = logged
    const reward = rewardOf(logged)
    total += reward
    const held = report.end ? total : null
    check(`step ${step}`, outline(await call(action)), {
      text: observation.text,
      reward: rewards === 'steps' ? reward : held,
      finished: report.end !== null,
      terms: report.terms,
      seq: report.seq,
      end: report.end,
      refused: report.refused,
    })
  }
  const last = reference.steps.at(-1)
  if (last) check('a call after the end', outline(await call(last.action)), { error: 'ToolCallError' })
  await client.ask(null)
}

/** The part of a result that is compared. */
function outline(called: Called): JsonObject {
  if (called.error !== undefined) return { error: called.error }
  const { text, reward, finished, metadata } = called
  const { terms, seq, end, refused } = metadata as { terms: JsonObject; seq: number; end: JsonObject; refused: string }
  return { text, reward, finished, terms, seq, end, refused }
}
