import { ConnectionFailure } from './connection.ts'

/** Bytes that one answer may have. */
const ANSWER_BYTES = 16 * 1024 * 1024

/** A `fetch` whose answers have an end: what is longer than an answer may be fails, and is not kept. */
export const boundedFetch: typeof fetch = async (input, init) => {
  // The stream of a session goes on for as long as that does.
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

/** Metadata for authorization are asked for by GET too, and are answers like others. */
function isEventStream({ headers }: RequestInit): boolean {
  return headers instanceof Headers && headers.get('accept') === 'text/event-stream'
}

const isNode = globalThis.process?.versions?.node !== undefined
