import { inProcess } from '@episodic/mcp-server'
import { type Channel, type JsonObject, WireError } from '@episodic/protocol'
import { objectOf } from '@episodic/run/base/json'
import type { AgentEndpoint } from './agent-endpoint.ts'

/** A channel in the same process. Without a wire, invalid messages cannot be sent at all. */
export const inProcessEndpoint: AgentEndpoint = {
  name: 'in process',
  async open(host) {
    const trainer = inProcess(host)
    return {
      sendAsTrainer: (message) => readAnswerBody(trainer, message),
      async openSession(capability) {
        const address = { by: 'capability', token: capability } as const
        const channel = inProcess(host, { endpoint: 'agent', principal: null, address })
        return {
          send: (message) => readAnswerBody(channel, message),
          // This channel has no notifications.
          collectNotifications: async () => async () => '',
          unusualRequests: {},
          close: () => channel.close(),
        }
      },
      async [Symbol.asyncDispose]() {},
    }
  },
}

/** The answer to a message as JSON; that of an error has its code, message and details. */
async function readAnswerBody(channel: Channel, message: string): Promise<string> {
  const { method, params = {} } = objectOf(message) ?? {}
  if (typeof method !== 'string') return ''
  try {
    return JSON.stringify(await channel.request(method, params as JsonObject))
  } catch (error) {
    if (!WireError.is(error)) throw error
    const { code, message: text, details } = error
    return JSON.stringify({ code, message: text, details })
  }
}
