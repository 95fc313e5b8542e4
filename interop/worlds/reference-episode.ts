import type { Host } from '@episodic/mcp-server'
import { DEFAULT_SEAT, type JsonObject, type LoggedStep, type Task } from '@episodic/protocol'
import type { World } from './world.ts'

/** No episode is as long. */
const MOST_STEPS = 500

/** An episode that was played in the process of the host. */
export interface ReferenceEpisode {
  readonly observation: string
  readonly steps: readonly LoggedStep[]
}

/** Plays a world in the process of the host: a mistake in the arguments first, then the player to the end. */
export async function playReference(
  host: Host,
  world: World,
  { seed, params }: Pick<Task, 'seed'> & Partial<Pick<Task, 'params'>>,
): Promise<ReferenceEpisode> {
  const requestKey = crypto.randomUUID()
  const { session, seats } = await host.open(null, { environment: world.name, seed, params, requestKey })
  const reference = await host.resolve(null, { by: 'control', token: session })
  const observation = seats[DEFAULT_SEAT]?.observation.text as string
  const player = world.begin()
  const steps: LoggedStep[] = []
  let action = { tool: world.demanding.tool, arguments: {} as JsonObject }
  let shown = observation
  while (steps.length < MOST_STEPS) {
    const { step } = await reference.step({ action })
    steps.push(step)
    if (step.report.end) break
    if (!step.report.refused) shown = step.observation.text
    action = player(shown)
  }
  await reference.close()
  return { observation, steps }
}

/** Returns the raw reward of a step: the sum of its terms. */
export function rewardOf({ report }: LoggedStep): number {
  return Object.values(report.terms).reduce((sum, term) => sum + term, 0)
}
