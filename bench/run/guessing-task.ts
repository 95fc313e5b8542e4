import type { Task } from '@episodic/protocol'
import { environment } from '@episodic-world/number-guessing'

/** A task of number-guessing with its default parameters. Its number is its seed. */
export function taskNumbered(i: number): Task {
  const { name, version } = environment
  return {
    id: `task-${i}`,
    environment: { name, version },
    tools: ['guess'],
    prompt: '',
    hints: [],
    params: {},
    seed: `${i}`,
    difficulty: (i % 10) / 10,
    limits: {},
    split: 'train',
    tags: [],
    metadata: {},
  }
}
