import type { Action, JsonObject } from '@episodic/protocol'
import type { CartPole } from './physics.ts'

const pushing = (isRight: boolean): Action => ({ tool: 'push', arguments: { side: isRight ? 'right' : 'left' } })

/** Strategies with published trajectories or returns. */
export const strategies = {
  right: () => pushing(true),
  'in-turn': (_: JsonObject, step: number) => pushing(step % 2 === 1),
  lean: (state: JsonObject) => {
    const { angle, angularVelocity } = state as unknown as CartPole
    return pushing(angle + 0.5 * angularVelocity > 0)
  },
  balance: (state: JsonObject) => {
    const { position, velocity, angle, angularVelocity } = state as unknown as CartPole
    return pushing(0.1 * position + 0.3 * velocity + angle + 0.5 * angularVelocity > 0)
  },
}
