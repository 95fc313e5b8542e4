/**
 * How a stream ended: the agent was `finished`, the signal or the executor's own end `aborted` it, whoever read it went
 * away (`abandoned`), or it `failed` with the error that it threw.
 */
export type StreamEnd =
  | { readonly reason: 'finished' }
  | { readonly reason: 'abandoned' }
  | { readonly reason: 'aborted'; readonly error: unknown }
  | { readonly reason: 'failed'; readonly error: unknown }

/** What an agent does, as it does it. It begins when it is first read, and what is not read any more is stopped. */
export interface AgentStream<T> extends AsyncIterable<T> {
  /** Resolves when the stream has ended, with the reason. Never rejects. */
  readonly ended: Promise<StreamEnd>
}

/** Makes a stream of what a generator yields. The signal that it gets is aborted when the stream ends, however that is. */
export function createAgentStream<T>(
  run: (signal: AbortSignal) => AsyncIterable<T>,
  signal: AbortSignal | undefined,
): AgentStream<T> {
  const { promise: ended, resolve } = Promise.withResolvers<StreamEnd>()
  const stop = new AbortController()
  const running = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal
  async function* drive(): AsyncGenerator<T> {
    let end: StreamEnd = { reason: 'abandoned' }
    try {
      yield* run(running)
      end = { reason: 'finished' }
    } catch (error) {
      end = { reason: running.aborted ? 'aborted' : 'failed', error }
      throw error
    } finally {
      stop.abort()
      resolve(end)
    }
  }
  const stream = drive()
  return { ended, [Symbol.asyncIterator]: () => stream }
}
