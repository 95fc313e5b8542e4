import type { IncomingMessage } from 'node:http'
import { JsonBodies, parseAccepted } from '@episodic/mcp-server/http'
import { type JsonObject, WireError } from '@episodic/protocol'
import { isObject } from '@episodic/protocol/internal'

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
/** The bounds of a whole body: a trajectory with the tokens of a model has millions of numbers. */
const BODY_BOUNDS = { nesting: 64, values: 10_000_000, containers: 300_000 }

/** Reads bodies that have a row in them, and a member with trajectories that may be much longer than the row. */
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
   * Reads a body whose member `long` may have millions of values. Rejects with `too-large`, `parse-error`, and
   * `invalid-request` for a body that is out of bounds, or no object.
   */
  async read(request: IncomingMessage, long = 'response'): Promise<RowBody> {
    const announced = Number(request.headers['content-length'] ?? this.#bytes)
    const size = announced <= SMALL || announced > this.#bytes ? 0 : announced
    await this.#admit(size)
    try {
      const text = await this.#bodies.readText(request)
      const value = text === '' ? {} : parseAccepted(text, 'body', ROW_BOUNDS, { name: long, bounds: BODY_BOUNDS })
      if (!isObject(value)) throw new WireError('invalid-request', 'The body has to be a JSON object.')
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
