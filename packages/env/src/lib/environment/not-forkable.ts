import type { EnvironmentInfo } from '@episodic/protocol'
import { EnvError } from '../env-error.ts'

/** The refusal to snapshot, restore or fork a world whose state is not this project's to copy. */
export function notForkable({ name }: EnvironmentInfo): EnvError {
  return new EnvError(
    'not-forkable',
    `${name} cannot be snapshotted, restored or forked: somebody else keeps its state. Play it from its start instead.`,
  )
}
