import { generateTasks } from '@episodic/dataset'
import { connect, type Environment, type Policy, randomPolicy, type StepResult } from '@episodic/env'
import { createHost, inProcess } from '@episodic/mcp-server'
import type { Action, Observation, Task } from '@episodic/protocol'
import { createMemoryStore } from '@episodic/state/memory'
import { clumsySolver, inventiveSolver } from './clumsy-policy.ts'
import { keepSessions } from './keep-sessions.ts'
import type { ParityWorld } from './parity-world.ts'
import type { Script } from './script.ts'
import type { SealedSession } from './seal-session.ts'
import { sessionOf } from './session-of.ts'

/** An episode that was played in the process of its host, which all clients have to reproduce. */
export interface Reference {
  readonly script: Script
  readonly opening: Observation
  readonly steps: readonly StepResult[]
  readonly sealed: SealedSession
}

/** Steps of an episode of the random policy, which may not end by itself. */
const MOST_RANDOM_STEPS = 30

/** Only the training split: clients of some endpoints open a task by its place in one split. */
const SPLITS = { train: 1, validation: 0, test: 0 }

/** Plays tasks of a world, each in its own way, and resolves with their episodes; the same each time. */
export async function playReferences(world: ParityWorld, count: number): Promise<readonly Reference[]> {
  const kept = keepSessions(createMemoryStore())
  await using host = createHost({ environments: [world.environment], store: kept.store })
  await using connection = await connect(inProcess(host))
  const played: Omit<Reference, 'sealed'>[] = []
  for (const task of generateTasks(world.tasks, { seed: 'parity', count, splits: SPLITS })) {
    const index = played.length
    const { limits, ...way } = wayOf(world, index)
    // The seed names the session, and some tasks of frozen-lake have the same one.
    const own: Task = { ...task, seed: `parity-${index}`, limits: { ...task.limits, ...limits } }
    await using environment = connection.environment(world.name)
    const { opening, steps, actions } = await playTask(environment, own, { ...way, seed: String(index) })
    played.push({ script: { world, task: own, index, actions }, opening, steps })
  }
  const sessions = await kept.seal()
  return played.map((episode) => ({ ...episode, sealed: sessionOf(sessions, episode.script) }))
}

/** How an episode is played. */
interface Way {
  readonly policy: Policy
  /** Steps after which it is closed before its end. */
  readonly leavesAfter?: number
}

function wayOf(world: ParityWorld, index: number): Way & { readonly limits?: Task['limits'] } {
  const few = 1 + (Math.floor(index / 6) % 4)
  switch (index % 6) {
    case 0:
      return { policy: world.solver }
    case 1:
      return { policy: clumsySolver(world) }
    case 2:
      return { policy: randomPolicy(), limits: { steps: MOST_RANDOM_STEPS } }
    case 3:
      return { policy: world.solver, limits: { steps: few } }
    case 4:
      return { policy: world.solver, leavesAfter: few - 1 }
    default:
      return { policy: inventiveSolver(world) }
  }
}

async function playTask(
  environment: Environment,
  task: Task,
  { policy, seed, leavesAfter = Number.POSITIVE_INFINITY }: Way & { readonly seed: string },
) {
  const { observation: opening, info } = await environment.reset(task)
  const { prompt, hints } = task
  const player = await policy.start({
    task: { prompt, hints, params: info.params },
    tools: environment.info.tools,
    seed,
  })
  const [steps, actions]: [StepResult[], Action[]] = [[], []]
  const legal = environment.legal && (() => environment.legal?.() ?? Promise.resolve({}))
  for (let last: StepResult | null = null; !last?.end && steps.length < leavesAfter; ) {
    const action: Action = await player(last?.observation ?? opening, { last, legal })
    last = await environment.step(action)
    actions.push(action)
    steps.push(last)
  }
  return { opening, steps, actions }
}
