import type { JsonObject } from '@episodic/protocol'
import { createMessageSession } from '../calls/message-session.ts'
import { McpError, reasonOf, sentence } from '../mcp-error.ts'
import { type Found, negotiate } from '../protocol-support.ts'
import type { Bounds, ChannelOptions, CommandTarget, Connected } from '../target.ts'
import { ServerProcess } from './server-process.ts'

/**
 * Connects to a command. Some servers end, or refuse all that follows, if their first message is no handshake: such a
 * one is started again, and begins with the handshake. `protocols` remembers it.
 */
export async function openPipe(target: CommandTarget, options: ChannelOptions, bounds: Bounds): Promise<Connected> {
  const { command } = target
  const { protocols } = options
  const isLegacy = protocols?.get(command) === 'legacy'
  const connected = await startCommand(target, options, bounds, isLegacy).catch((error: object) => {
    if (!FAILED_AFTER_START.has(error)) throw error
    return startCommand(target, options, bounds, !isLegacy).catch((second: object) => {
      // The first says more, where the second only says that the server has no stateless version either.
      throw isLegacy && FAILED_AFTER_START.has(second) ? error : second
    })
  })
  if (connected.protocol === 'legacy') protocols?.set(command, connected.protocol)
  return connected
}

/** The errors of servers that were started, and then failed: begun in another way, they may not. */
const FAILED_AFTER_START = new WeakSet<object>()

/** @param isLegacy - whether it is asked for its handshake, and not what it supports. */
async function startCommand(
  target: CommandTarget,
  options: ChannelOptions,
  { openMilliseconds, callMilliseconds }: Bounds,
  isLegacy: boolean,
): Promise<Connected> {
  const { startSeconds = openMilliseconds / 1_000 } = target
  const name = `the command ${target.command}`
  const child = new ServerProcess(target)
  const { signal } = options
  const note = () => (child.printed === '' ? '' : ` It printed: ${child.printed}`)
  const ending = () => child.exit ?? 'it has closed its pipe'
  const session = createMessageSession(child, {
    ...options,
    name,
    callMilliseconds,
    ending,
    note,
    failureOf: () => null,
  })
  let late: AbortSignal | undefined
  const start = async (): Promise<Connected> => {
    await child.start()
    late = AbortSignal.timeout(startSeconds * 1_000)
    const waiting = { signal: signal ? AbortSignal.any([signal, late]) : late }
    const found: Found<JsonObject> = isLegacy
      ? { protocol: 'legacy', handshake: await session.shakeHands(waiting) }
      : await negotiate({ request: session.modern }, (until) => session.shakeHands(until), waiting)
    if (session.lost) throw session.lost
    const { protocol, handshake } = found
    return {
      protocol,
      capabilities: (handshake?.capabilities ?? found.capabilities ?? {}) as JsonObject,
      // Our own servers need no sender in a request, and a request without it is shorter.
      request: protocol === 'modern' ? session.modern : session.bare,
      ending: () => session.lost?.why ?? null,
      release: () => session.close(),
    }
  }
  try {
    return await startInTurn(start, signal)
  } catch (cause) {
    await session.close()
    signal?.throwIfAborted()
    const reported = McpError.is(cause) ? cause : null
    const why = late?.aborted
      ? `it has not answered within ${startSeconds} seconds of its start. If it starts that slowly, give it longer with \`startSeconds\` beside its \`command\`.`
      : reported?.code === 'lost'
        ? ending()
        : (reported?.why ?? reasonOf(cause))
    const said = `${sentence(why)}${note()}`
    const error = new McpError(
      late?.aborted ? 'timed-out' : (reported?.code ?? 'lost'),
      `Cannot connect to ${name}: ${said}`,
      { why: said, cause },
    )
    if (late?.aborted === false) FAILED_AFTER_START.add(error)
    throw error
  }
}

/** Servers that may start at once in this process: each takes seconds of a core to load, and all would be late. */
const MOST = Math.max(2, globalThis.navigator.hardwareConcurrency)

let starting = 0
const waiting: (() => void)[] = []

/** Starts a server once fewer than the bound are starting. Rejects with the signal's reason if it aborts before. */
export async function startInTurn<T>(start: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (starting >= MOST) {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const abort = () => {
      const place = waiting.indexOf(resolve)
      // It may have its turn already.
      if (place !== -1) waiting.splice(place, 1)
      reject(signal?.reason)
    }
    waiting.push(resolve)
    signal?.addEventListener('abort', abort, { once: true })
    await promise.finally(() => signal?.removeEventListener('abort', abort))
  } else starting += 1
  try {
    return await start()
  } finally {
    const next = waiting.shift()
    if (next) next()
    else starting -= 1
  }
}
