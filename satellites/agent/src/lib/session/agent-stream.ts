/** How a stream ended: `finished`, `aborted` (signal, close), `abandoned` by its reader, or `failed` by an error. */
export type StreamEnd =
  | { readonly reason: 'finished' }
  | { readonly reason: 'abandoned' }
  | { readonly reason: 'aborted'; readonly error: unknown }
  | { readonly reason: 'failed'; readonly error: unknown }

/** The events of an agent. It starts when it is first read, and stops when the reader stops. */
export interface AgentStream<T> extends AsyncIterable<T> {
  /** Resolves when the stream has ended, with the reason. Never rejects. */
  readonly ended: Promise<StreamEnd>
}

/** Creates a stream from a generator. The signal that it receives is aborted when the stream ends for any reason. */
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
