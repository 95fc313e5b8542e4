import { environment as fixed } from '@episodic-world/courier'
import { environment as exploitable } from '@episodic-world/courier/exploitable'
import { oneHot, type World } from './world.ts'

const PLACES = 7

/**
 * The street whose checkpoint pays each time it is reached, and the one whose checkpoint pays once. The input has a
 * number for each place, and one for the checkpoint.
 */
export const COURIERS: Readonly<Record<'exploitable' | 'fixed', World>> = {
  exploitable: courierOf(exploitable),
  fixed: courierOf(fixed),
}

function courierOf(environment: World['environment']): World {
  return {
    environment,
    params: {},
    inputs: PLACES + 1,
    actions: ['depot', 'house'].map((to) => ({ tool: 'walk', arguments: { to } })),
    encode({ structured }) {
      const { position, checked } = structured ?? {}
      return oneHot(PLACES + 1, Number(position), ...(checked ? [PLACES] : []))
    },
    isSuccess: (reason) => reason === 'delivered',
  }
}
