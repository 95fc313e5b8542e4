import { definePolicy } from '@episodic/env'

/** Walks straight to the house. */
export const solver = definePolicy({
  name: 'straight',
  start: () => () => ({ tool: 'walk', arguments: { to: 'house' } }),
})
