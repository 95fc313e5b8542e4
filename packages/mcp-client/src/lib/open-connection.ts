import { readServerResult } from './answers/server-answer.ts'
import type { Bounds, ChannelOptions, CommandTarget, Connected, HttpTarget, McpConnection } from './target.ts'

/** Connects to a server over HTTP or a pipe. Code that needs Node is loaded only here. Rejects with an `McpError`. */
export async function openConnection(
  target: HttpTarget | CommandTarget,
  options: ChannelOptions,
  bounds: Bounds,
): Promise<McpConnection> {
  options.signal?.throwIfAborted()
  const { request, protocol, capabilities, ending, release } = await connect(target, options, bounds)
  let closed: Promise<void> | null = null
  return {
    protocol,
    capabilities,
    get gone() {
      return ending()
    },
    async request(method, params, requestOptions) {
      requestOptions?.signal?.throwIfAborted()
      return readServerResult(method, await request(method, params, requestOptions), leaveOut)
    },
    close() {
      closed ??= release()
      return closed
    },
  }
}

async function connect(
  target: HttpTarget | CommandTarget,
  options: ChannelOptions,
  bounds: Bounds,
): Promise<Connected> {
  if ('url' in target) {
    const { openHttp } = await import('./http/sdk-http.ts')
    return openHttp(target, options, bounds)
  }
  const { openPipe } = await import('./pipe/open-pipe.ts')
  return openPipe(target, options, bounds)
}

/** Warns of a tool that cannot be read. The other tools of its server can be used. */
function leaveOut(tool: string): void {
  process.emitWarning(
    `A server lists the tool ${tool} in a form that cannot be read, or for a second time, so it is left out.`,
  )
}
