import { PassThrough } from 'node:stream'
import type { Host } from '@episodic/mcp-server'
import { serveStdio } from '@episodic/mcp-server/stdio'
import type { AgentDoor } from './agent-endpoint.ts'

/** A pipe: what `episodic serve --stdio` speaks, over streams of this process. One pipe for each conversation. */
export const stdioDoor: AgentDoor = {
  name: 'stdio',
  async open(host) {
    const open = new Set<() => Promise<void>>()
    return {
      async converse(capability) {
        const [input, output] = [new PassThrough(), new PassThrough({ encoding: 'utf8' })]
        const served = serveStdio(capability === null ? host : playing(host, capability), { input, output })
        let heard = ''
        let awaited: { mark: string; found: () => void } | null = null
        output.on('data', (text: string) => {
          heard += text
          if (awaited && heard.includes(awaited.mark)) awaited.found()
        })
        let marks = 0
        const close = async () => {
          open.delete(close)
          input.end()
          await served
        }
        open.add(close)
        return {
          async say(message) {
            // An agent's pipe is answered in turn: once the mark is, everything before it has been.
            const id = `mark-${marks++}`
            const { promise, resolve } = Promise.withResolvers<void>()
            awaited = { mark: `"id":"${id}"`, found: resolve }
            input.write(`${message}\n${JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' })}\n`)
            await promise
            const said = heard
            heard = ''
            return said
          },
          // Notifications come through the pipe, among the answers.
          listen: async () => async () => '',
          oddities: {},
          close,
        }
      },
      async [Symbol.asyncDispose]() {
        await Promise.all([...open].map((close) => close()))
      },
    }
  },
}

/** A host whose plain client finds a session that was opened for it, instead of a world that begins by itself. */
function playing(host: Host, capability: string): Host {
  const staged: Pick<Host, 'actAt' | 'lookAt' | 'presentAt'> = {
    actAt: (_principal, _transportId, _environment, call) => host.act(capability, call),
    lookAt: () => host.look(capability),
    presentAt: () => host.present(capability),
  }
  return new Proxy(host, {
    get(target, key) {
      if (key === 'actAt' || key === 'lookAt' || key === 'presentAt') return staged[key]
      const value: unknown = Reflect.get(target, key, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
