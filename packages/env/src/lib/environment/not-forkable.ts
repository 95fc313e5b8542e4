import type { EnvironmentInfo } from '@episodic/protocol'
import { EnvError } from '../env-error.ts'

/** Returns the error for a snapshot, restore or fork of an environment whose state an external server keeps. */
export function notForkable({ name }: EnvironmentInfo): EnvError {
  return new EnvError(
    'not-forkable',
    `${name} cannot be snapshotted, restored or forked: an external server keeps its state. Play it from its start instead.`,
  )
}
