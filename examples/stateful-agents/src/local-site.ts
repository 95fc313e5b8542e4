import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'

/** An HTTP server of this process, on a free port of this machine that nobody else reaches. */
export interface LocalSite extends AsyncDisposable {
  readonly url: string
}

/** Serves until it is disposed, which cuts off who is still connected. */
export async function openLocalSite(listener: RequestListener): Promise<LocalSite> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}
