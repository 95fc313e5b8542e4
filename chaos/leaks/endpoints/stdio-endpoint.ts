import { PassThrough } from 'node:stream'
import type { Host } from '@episodic/mcp-server'
import { serveStdio } from '@episodic/mcp-server/stdio'
import type { AgentEndpoint } from './agent-endpoint.ts'

/** The protocol of `episodic serve --stdio`, over streams of this process. Each session has its own pipe. */
export const stdioEndpoint: AgentEndpoint = {
  name: 'stdio',
  async open(host) {
    const open = new Set<() => Promise<void>>()
    return {
      async openSession(capability) {
        const [input, output] = [new PassThrough(), new PassThrough({ encoding: 'utf8' })]
        const served = serveStdio(boundTo(host, capability), { input, output })
        let received = ''
        let awaited: { mark: string; found: () => void } | null = null
        output.on('data', (text: string) => {
          received += text
          if (awaited && received.includes(awaited.mark)) awaited.found()
        })
        let marks = 0
        const close = async () => {
          open.delete(close)
          input.end()
          await served
        }
        open.add(close)
        return {
          async send(message) {
            // A pipe is answered in order: once the ping is answered, so is the message.
            const id = `mark-${marks++}`
            const { promise, resolve } = Promise.withResolvers<void>()
            awaited = { mark: `"id":"${id}"`, found: resolve }
            input.write(`${message}\n${JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' })}\n`)
            await promise
            const answer = received
            received = ''
            return answer
          },
          // Notifications arrive on the pipe, between the answers.
          collectNotifications: async () => async () => '',
          unusualRequests: {},
          close,
        }
      },
      async [Symbol.asyncDispose]() {
        await Promise.all([...open].map((close) => close()))
      },
    }
  },
}

/** A host whose plain clients play the session of a capability instead of a session of their own. */
function boundTo(host: Host, capability: string): Host {
  const resolve = (principal: string | null) => host.resolve(principal, { by: 'capability', token: capability })
  return new Proxy(host, {
    get(target, key) {
      if (key === 'resolve') return resolve
      const value: unknown = Reflect.get(target, key, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
