import type { Host } from '@episodic/mcp-server'
import { DEFAULT_SEAT, type StepReport, type Task } from '@episodic/protocol'
import type { Action, Player } from '../player.ts'
import type { World } from '../world.ts'

/** No episode is as long. */
const MOST_STEPS = 500

/** One step as a trainer in the process of the host sees it. */
export interface ReferenceStep {
  readonly action: Action
  readonly text: string
  readonly report: StepReport
  readonly reward: number
}

export interface ReferenceEpisode {
  readonly observation: string
  readonly steps: readonly ReferenceStep[]
}

/** Plays a task in the process of the host: first a mistake in the arguments, then the player's actions to the end. */
export async function playReference(host: Host, task: Task, world: World): Promise<ReferenceEpisode> {
  const { params, seed } = task
  const { session, seats } = await host.open(null, {
    environment: world.name,
    params,
    seed,
    requestKey: crypto.randomUUID(),
  })
  const reference = await host.resolve(null, { by: 'control', token: session })
  const observation = seats[DEFAULT_SEAT]?.observation.text as string
  const steps: ReferenceStep[] = []
  const play = async (action: Action): Promise<ReferenceStep> => {
    const { step } = await reference.step({ action })
    const reward = Object.values(step.report.terms).reduce((sum, term) => sum + term, 0)
    const played = { action, text: step.observation.text, report: step.report, reward }
    steps.push(played)
    return played
  }
  await play({ tool: world.demanding.tool, arguments: {} })
  const player: Player = world.begin()
  let shown = observation
  while (steps.length < MOST_STEPS) {
    const { text, report } = await play(player(shown))
    if (report.end) break
    shown = text
  }
  await reference.close()
  return { observation, steps }
}
