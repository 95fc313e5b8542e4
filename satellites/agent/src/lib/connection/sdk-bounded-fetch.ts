import { ConnectionFailure } from './connection.ts'

/** The most bytes of one answer. */
const ANSWER_BYTES = 16 * 1024 * 1024

/** A `fetch` that fails for an answer of more than `ANSWER_BYTES`, so that no answer fills the memory. */
export const boundedFetch: typeof fetch = async (input, init) => {
  // The stream of a session has no bound: it lasts as long as the session.
  if (isNode && init?.method === 'GET' && isEventStream(init)) {
    const { openBackgroundStream } = await import('./sdk-background-stream.ts')
    return openBackgroundStream(new URL(String(input)), init)
  }
  const response = await fetch(input, init)
  if (response.body === null) return response
  const length = response.headers.get('content-length')
  if (length !== null && Number(length) <= ANSWER_BYTES) return response
  let bytes = 0
  const bounded = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bytes += chunk.byteLength
        if (bytes <= ANSWER_BYTES) controller.enqueue(chunk)
        else controller.error(tooLong())
      },
    }),
  )
  const { status, statusText, headers } = response
  return new Response(bounded, { status, statusText, headers })
}

function tooLong(): ConnectionFailure {
  return new ConnectionFailure('malformed', `it answered with more than ${ANSWER_BYTES} bytes`, {
    mayHaveArrived: true,
    cause: undefined,
  })
}

/** Requests for authorization metadata use GET too, but are bounded. */
function isEventStream({ headers }: RequestInit): boolean {
  return headers instanceof Headers && headers.get('accept') === 'text/event-stream'
}

const isNode = globalThis.process?.versions?.node !== undefined
