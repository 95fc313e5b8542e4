import type { IncomingMessage } from 'node:http'
import { type JsonObject, WireError } from '@episodic/protocol'
import { isObject } from '@episodic/protocol/internal'
import { isLong, ParseQueue, parseAccepted } from '../dispatch/json-bounds.ts'
import { HeldBytes } from './held-bytes.ts'
import type { Denial } from './host-origin-check.ts'
import { checkEncoding } from './post-rules.ts'
import { readBody } from './read-body.ts'

/** Bytes of larger bodies that are held at once. Others wait, unread. */
const AT_ONCE = 268_435_456

/** Reads the JSON bodies of a port, of 64 levels and 10,000 values at most: a long one in a turn of its own. */
export class JsonBodies {
  readonly #bytes: number
  readonly #turns = new ParseQueue()
  readonly #held = new HeldBytes(AT_ONCE)

  constructor(bytes: number) {
    this.#bytes = bytes
  }

  /** Returns why a body is not read here, which is that it is compressed; `null` for one that is read. */
  check({ headers }: IncomingMessage): Denial | null {
    return checkEncoding(headers)
  }

  /**
   * Returns the body of a request as an object, `{}` if it is empty. Rejects with `too-large`, `parse-error`, and
   * `invalid-request` for a body that did not arrive whole, is out of bounds, or is no object.
   */
  async readObject(request: IncomingMessage): Promise<JsonObject> {
    const text = await this.readText(request)
    if (text === '') return {}
    const body = parseAccepted(text, 'body')
    if (isObject(body)) return body
    throw new WireError('invalid-request', 'The body has to be a JSON object.')
  }

  /** Returns the body of a request, once it may be parsed: at once if it is short. Rejects as `readBody` does. */
  async readText(request: IncomingMessage): Promise<string> {
    const text = await readBody(request, this.#bytes)
    if (isLong(text)) await this.#turns.next()
    return text
  }

  /** Resolves with what is made of the text of a body, which is held until then. Rejects as `readBody` does. */
  async useText<T>(request: IncomingMessage, use: (text: string) => Promise<T>): Promise<T> {
    const announced = Number(request.headers['content-length'] ?? this.#bytes)
    using _ = await this.#held.take(announced > this.#bytes ? 0 : announced)
    return await use(await readBody(request, this.#bytes))
  }
}
