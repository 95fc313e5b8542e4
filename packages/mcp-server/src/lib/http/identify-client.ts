import type { IncomingMessage } from 'node:http'
import type { Identity } from '../transport/credentials.ts'
import type { Authorizer } from './authorize.ts'
import type { ClientIdentity } from './extra-routes.ts'
import type { Denial } from './host-origin-check.ts'
import { tokenOf } from './reject-upgrade.ts'

/** Finds out who asks extra routes for a WebSocket: whoever the trainer endpoint admits, or the agent's. */
export async function identifyClient(
  admission: Authorizer,
  request: IncomingMessage,
): Promise<ClientIdentity | Denial> {
  const { remoteAddress: address } = request.socket
  const identify = async (): Promise<Denial | (Identity & { readonly trainer: boolean })> => {
    const trainer = await admission.identify('trainer', tokenOf(request))
    if (!('status' in trainer)) return { ...trainer, trainer: true }
    const agent = await admission.identify('agent', tokenOf(request))
    return 'status' in agent ? agent : { ...agent, trainer: false }
  }
  const identity = await identify()
  if ('status' in identity) return identity
  const { principal, trainer } = identity
  return {
    principal,
    trainer,
    async count(capability) {
      const caller = {
        endpoint: 'agent',
        principal,
        address: capability === null ? NO_SEAT : seatOf(capability),
      } as const
      return admission.count(caller, await admission.resolve(caller), address)
    },
    async isWelcome() {
      const present = await identify()
      // Keys that cannot be had at the moment say nothing of a token.
      return 'status' in present ? present.status !== 401 : present.principal === principal
    },
  }
}

const NO_SEAT = { by: 'transport', token: null, environment: '' } as const

function seatOf(token: string) {
  return { by: 'capability', token } as const
}
