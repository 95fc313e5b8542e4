import { defineTasks, generateTasks } from '@episodic/dataset'
import { createHost, type Host } from '@episodic/mcp-server'
import type { Task } from '@episodic/protocol'
import { type RewardMode, serveOrs } from '@episodic/trainer-endpoints/ors'
import { WORLDS, type World } from '../worlds/world.ts'

export const TOKEN = 'the-control-token-of-this-interop'

/** Worlds and their tasks, served to clients of the Open Reward Standard. */
export interface ServedTasks extends AsyncDisposable {
  readonly origin: string
  readonly host: Host
  /** The tasks of a world in the split `train`. */
  tasksOf(world: World): readonly Task[]
}

/** Serves every world with tasks of its default parameters and different seeds, which are the same each time. */
export async function serveTasks(rewards: RewardMode, confirmsCalls = false): Promise<ServedTasks> {
  await using cleanUp = new AsyncDisposableStack()
  const host = cleanUp.use(createHost({ environments: WORLDS.map(({ environment }) => environment) }))
  const tasks = WORLDS.flatMap((world) => [...generateTasks(defaultTasks(world), { seed: 'interop', count: 20 })])
  const { origin } = cleanUp.use(await serveOrs(host, { tasks, rewards, confirmsCalls, auth: { controlToken: TOKEN } }))
  const owned = cleanUp.move()
  return {
    origin,
    host,
    tasksOf: ({ name }) => tasks.filter(({ environment, split }) => environment.name === name && split === 'train'),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

function defaultTasks({ environment }: World) {
  return defineTasks({
    name: `${environment.name}-interop`,
    environment,
    generate: ({ index }) => ({
      prompt: `Play well: task ${index}.`,
      hints: ['Read every answer.'],
      params: {},
      difficulty: 0,
    }),
  })
}
