import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { HarnessError } from '@episodic/run/base/harness-error'

export type Signer = ReturnType<typeof createSigner>

const LENGTH = 43

/**
 * Creates a signer: HMAC-SHA-256 with a secret that coordinators and workers share, or without one a plain SHA-256.
 *
 * @param secret - `null` for none.
 */
export function createSigner(secret: string | null) {
  const digestOf = (place: string, text: string) => {
    const hash = secret === null ? createHash('sha256') : createHmac('sha256', secret)
    return hash.update(`${place.length} ${place}${text}`).digest('base64url')
  }
  return {
    /** Whether the signatures need a secret. Otherwise they only show damage. */
    isSecret: secret !== null,
    /** Returns a signed text. It can be opened only in the same place, such as one job of one run. */
    sign: (place: string, text: string) => digestOf(place, text) + text,
    /** Returns the text. Throws `queue-tampered` if it was changed, signed for another place or with another secret. */
    open(place: string, signed: string): string {
      const text = signed.slice(LENGTH)
      const [given, expected] = [Buffer.from(signed.slice(0, LENGTH)), Buffer.from(digestOf(place, text))]
      if (given.length === expected.length && timingSafeEqual(given, expected)) return text
      throw new HarnessError(
        'queue-tampered',
        secret === null
          ? 'Its digest does not fit: it was changed in the queue, or is signed with a secret that is not given here as EPISODIC_QUEUE_SECRET.'
          : 'Its signature does not fit: it was changed in the queue, or its writer has no or another EPISODIC_QUEUE_SECRET.',
      )
    },
  }
}
