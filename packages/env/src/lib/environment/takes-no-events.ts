import type { EnvironmentInfo } from '@episodic/protocol'
import { EnvError } from '../env-error.ts'

/** Returns the error for an event published to an environment that defines none. */
export function takesNoEvents({ name }: EnvironmentInfo): EnvError {
  return new EnvError('option-invalid', `${name} takes no outside events. Define \`events\` in its environment.`)
}
