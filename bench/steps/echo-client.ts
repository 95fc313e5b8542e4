import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { Agent, request } from 'undici'
import { WebSocket } from 'ws'

/** The floor of a client: sends a message as JSON, which the server parses and writes, and parses what comes back. */
export interface EchoClient extends AsyncDisposable {
  call(message: object): Promise<unknown>
}

/** Over HTTP, with a connection for each call in flight. */
export function connectHttpEcho(port: number): EchoClient {
  const dispatcher = new Agent({ connections: 256, pipelining: 1 })
  const headers = { 'content-type': 'application/json' }
  return {
    async call(message) {
      const body = JSON.stringify(message)
      const answer = await request(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body, dispatcher })
      return JSON.parse(await answer.body.text())
    },
    [Symbol.asyncDispose]: () => dispatcher.close(),
  }
}

/** Over one WebSocket. */
export async function connectWebSocketEcho(port: number): Promise<EchoClient> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/`)
  await once(socket, 'open')
  const { call, receive } = matchAnswers((text) => socket.send(text))
  socket.on('message', (text) => receive(String(text)))
  return { call, [Symbol.asyncDispose]: async () => socket.terminate() }
}

/** Over the pipes of a process that it starts. */
export function startStdioEcho(): EchoClient {
  const file = fileURLToPath(new URL('../servers/echo-stdio.ts', import.meta.url))
  const child = spawn(process.execPath, [file], { stdio: ['pipe', 'pipe', 'inherit'] })
  const { call, receive } = matchAnswers((text) => child.stdin.write(`${text}\n`))
  createInterface({ input: child.stdout }).on('line', receive)
  return {
    call,
    async [Symbol.asyncDispose]() {
      child.stdin.end()
      await once(child, 'exit')
    },
  }
}

/** Matches what arrives with the calls in flight, by `id`. */
function matchAnswers(send: (text: string) => void) {
  const waiting = new Map<number, (answer: unknown) => void>()
  let next = 0
  return {
    call(message: object): Promise<unknown> {
      const id = next++
      return new Promise((resolve) => {
        waiting.set(id, resolve)
        send(JSON.stringify({ ...message, id }))
      })
    },
    receive(text: string): void {
      const answer = JSON.parse(text) as { readonly id: number }
      waiting.get(answer.id)?.(answer)
      waiting.delete(answer.id)
    },
  }
}
