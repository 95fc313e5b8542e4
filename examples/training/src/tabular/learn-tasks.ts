import { createAdaptiveCurriculum, createStagedCurriculum, generateTasks } from '@episodic/dataset'
import { type Connection, runEpisode } from '@episodic/env'
import { type Observation, seedFor, type Task } from '@episodic/protocol'
import { hallway, hallwayTasks, LENGTH, RIGHT } from '../worlds/hallway.ts'
import { createTabularLearner, type TabularStep } from './tabular-learner.ts'

export type Drawing = 'uniform' | 'adaptive'

/** Fixed before `SEEDS` were run. */
const SETTINGS = { rate: 1, batch: 16, target: 0.9, mostEpisodes: 20_000 } as const

/** How long a learner took until it had learned all tasks. */
export interface LearnedTasks {
  readonly drawing: Drawing
  readonly seed: string
  /** Episodes until it was through the target share of all tasks; `null` if it was not after the most episodes. */
  readonly episodes: number | null
  readonly steps: number
}

/**
 * Trains a tabular policy on the tasks of the hallway by REINFORCE, until its success over all tasks is 90 %. The
 * success is computed from the policy's probabilities, so it is exact and costs no episodes.
 *
 * @param drawing - each task equally often, in a shuffled order; or those that are solved about half of the time.
 */
export async function learnTasks(
  connection: Connection,
  { drawing, seed, mostEpisodes = SETTINGS.mostEpisodes }: { drawing: Drawing; seed: string; mostEpisodes?: number },
): Promise<LearnedTasks> {
  const tasks = [...generateTasks(hallwayTasks, { seed: 'hallway', count: LENGTH })]
  const all = [{ name: 'all', difficulty: [0, 1] as const, episodes: mostEpisodes }]
  const curriculum =
    drawing === 'adaptive' ? createAdaptiveCurriculum(tasks, { seed }) : createStagedCurriculum(all, tasks, { seed })
  const exits = [0, 1, 2, 3].map((exit) => ({ tool: 'leave', arguments: { exit } }))
  const learner = createTabularLearner('tabular', exits, roomOf)
  let [episodes, steps] = [0, 0]
  while (episodes < mostEpisodes) {
    const drawn = Array.from({ length: SETTINGS.batch }, () => curriculum.next() as Task)
    const played = await Promise.all(
      drawn.map((task, i) =>
        runEpisode({
          createEnvironment: () => connection.environment(hallway.name),
          policy: learner.policy,
          task,
          policySeed: seedFor(seed, 'episode', episodes + i),
        }),
      ),
    )
    const learned: TabularStep[] = []
    for (const [i, episode] of played.entries()) {
      if (episode.kind === 'failed') throw episode.cause
      const isThrough = episode.end.reason === 'through'
      curriculum.observe((drawn[i] as Task).id, isThrough)
      steps += episode.steps.length
      for (const [at, { action }] of episode.steps.entries()) {
        const { observation } = episode.steps[at - 1] ?? episode.start
        learned.push({ state: roomOf(observation), action: learner.numberOf(action), advantage: Number(isThrough) })
      }
    }
    learner.learn(learned, SETTINGS.rate)
    episodes += SETTINGS.batch
    if (successOf(learner.probabilities) >= SETTINGS.target) return { drawing, seed, episodes, steps }
  }
  return { drawing, seed, episodes: null, steps }
}

function roomOf({ structured }: Observation): string {
  return String(structured?.room)
}

/** The exact success of a policy, averaged over the tasks. */
function successOf(probabilities: (state: string) => readonly number[]): number {
  let [through, sum] = [1, 0]
  for (let room = LENGTH - 1; room >= 0; room--) {
    through *= probabilities(String(room))[RIGHT[room] as number] as number
    sum += through
  }
  return sum / LENGTH
}
