import type { EnvironmentInfo } from '@episodic/protocol'
import { EnvError } from '../env-error.ts'

/** The refusal to publish to a world that has nothing outside of it. */
export function takesNoEvents({ name }: EnvironmentInfo): EnvError {
  return new EnvError('option-invalid', `${name} takes no outside events. Define \`events\` in its environment.`)
}
