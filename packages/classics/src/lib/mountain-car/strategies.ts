import type { Action, JsonObject } from '@episodic/protocol'

const pushing = (push: 'left' | 'right'): Action => ({ tool: 'drive', arguments: { push } })

/** Strategies with published trajectories. */
export const strategies = {
  right: () => pushing('right'),
  swing: ({ velocity = 0 }: JsonObject) => pushing((velocity as number) >= 0 ? 'right' : 'left'),
}
