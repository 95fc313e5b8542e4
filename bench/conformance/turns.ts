import { once } from 'node:events'
import { createServer } from 'node:net'
import { availableParallelism } from 'node:os'

/**
 * Lets as many clients run at once as there are processors, of all that the suite starts at once: a client that gets
 * hardly any processor time fails where its server closes a connection that was idle. Each connects to this address
 * with `take-turn.ts`, gets a byte when its turn comes, and gives the turn back by its end.
 */
export async function serveTurns(address: string): Promise<AsyncDisposable> {
  const waiting: (() => void)[] = []
  let free = availableParallelism()
  const server = createServer((socket) => {
    let isRunning = false
    const begin = () => {
      isRunning = true
      free -= 1
      socket.write('1')
    }
    socket.on('error', () => {})
    socket.on('close', () => {
      if (!isRunning) return void waiting.splice(waiting.indexOf(begin), 1)
      free += 1
      waiting.shift()?.()
    })
    if (free > 0) begin()
    else waiting.push(begin)
  }).listen(address)
  await once(server, 'listening')
  return {
    async [Symbol.asyncDispose]() {
      server.close()
      await once(server, 'close')
    },
  }
}
