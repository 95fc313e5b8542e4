import { DEFAULT_SEAT, type EnvironmentInfo } from '@episodic/protocol'

/** Returns the seats of an environment with their tools. The only seat of an environment has all tools. */
export function seatsOf({ seats, tools }: EnvironmentInfo): NonNullable<EnvironmentInfo['seats']> {
  return seats ?? [{ name: DEFAULT_SEAT, tools: tools.map(({ name }) => name) }]
}
