import type { IncomingMessage } from 'node:http'
import { findProblem, JsonBodies } from '@episodic/mcp-server/http'
import { type JsonObject, WireError } from '@episodic/protocol'
import { isObject } from '@episodic/protocol/extend'

/** A body that has a row of a dataset in it, and in `response` perhaps a whole trajectory. */
export interface RowBody {
  readonly text: string
  readonly value: JsonObject
}

/** Bytes of a body up to which it is read at once. */
const SMALL = 1_048_576
/** Bytes of larger bodies that are held at once. Others wait, unread. */
const AT_ONCE = 268_435_456
/** The bounds of a row without its `response`: a prompt may have many messages, and a row many tools. */
const ROW_BOUNDS = { nesting: 64, values: 100_000 }

/**
 * Reads bodies that have a row in them. A trajectory with the tokens of a model has millions of values, so `response` is
 * bounded by its bytes alone; nothing reads it recursively.
 */
export class RowBodies {
  readonly #bytes: number
  readonly #bodies: JsonBodies
  readonly #waiting: (() => void)[] = []
  #held = 0

  /** Bodies of more than `bytes` are rejected. */
  constructor(bytes: number) {
    this.#bytes = bytes
    this.#bodies = new JsonBodies(bytes)
  }

  /**
   * Reads a body of which the member `long` is bounded by its bytes alone. Rejects with `too-large`, `parse-error`, and `invalid-request` for the rest of it that is out
   * of bounds, or no object.
   */
  async read(request: IncomingMessage, long = 'response'): Promise<RowBody> {
    const announced = Number(request.headers['content-length'] ?? this.#bytes)
    const size = announced <= SMALL || announced > this.#bytes ? 0 : announced
    await this.#admit(size)
    try {
      const text = await this.#bodies.readText(request)
      const value = parse(text)
      const problem = findProblem({ ...value, [long]: null }, ROW_BOUNDS)
      if (problem !== null) throw new WireError('invalid-request', `The values of the body ${problem}.`)
      return { text, value }
    } finally {
      this.#held -= size
      for (const go of this.#waiting.splice(0)) go()
    }
  }

  async #admit(size: number): Promise<void> {
    while (size > 0 && this.#held > 0 && this.#held + size > AT_ONCE)
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.#held += size
  }
}

function parse(text: string): JsonObject {
  let value: unknown
  try {
    value = text === '' ? {} : JSON.parse(text)
  } catch (cause) {
    throw new WireError('parse-error', 'The body is not JSON.', { cause })
  }
  if (isObject(value)) return value
  throw new WireError('invalid-request', 'The body has to be a JSON object.')
}
