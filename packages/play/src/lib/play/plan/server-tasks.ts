import { createRng, seedFor, type Task } from '@episodic/protocol'
import type { ServedWorld } from '../../worlds/served-world.ts'

/**
 * Generates the tasks of a run on another system's server: the server's own, in its order, or, if its protocol lists
 * none, the defaults of the environment with a different seed for each.
 *
 * @param count - the most tasks.
 */
export function* serverTasks(world: ServedWorld, { seed, count }: { seed: string; count: number }): Generator<Task> {
  if (world.splits === null) {
    for (let index = 0; index < count; index++) {
      const number = createRng(seedFor(seed, 'task', index)).int(0, LARGEST_SEED)
      yield taskOf(world, { id: `${index}-seed-${number}`, seed: String(number) })
    }
    return
  }
  let left = count
  // The protocol has no seed, so it is the same in every run.
  for (const { name: split, type, tasks } of world.splits)
    for (let index = 0; index < tasks && left > 0; index++, left--)
      yield taskOf(world, { id: `${split}-${index}`, seed: '0', params: { split, index }, split: type })
}

/** Environments read a seed as a whole number of 32 bits, with or without a sign. */
const LARGEST_SEED = 2 ** 31 - 1

function taskOf(
  { environment: { name, version, description, tools }, splits }: ServedWorld,
  own: Pick<Task, 'id' | 'seed'> & Partial<Task>,
): Task {
  return {
    environment: { name, version },
    tools: tools.map((tool) => tool.name),
    // A task of the server has its prompt in the first observation.
    prompt: splits === null ? description : '',
    hints: [],
    params: {},
    difficulty: 0,
    limits: {},
    split: 'train',
    tags: [],
    metadata: {},
    ...own,
  }
}
