import { METHODS, type Rng } from '@episodic/protocol'
import type { Fate } from './proxy.ts'

/** How bad a connection is, in shares of all requests. */
export interface Weather {
  readonly requestsLost: number
  readonly repliesLost: number
  /** Of requests that arrive twice: at once, late, or late though their sender has given up on them; a third each. */
  readonly doubled: number
  readonly delayed: number
  /** Default: none. */
  readonly repliesCut?: number
}

export const STORM: Weather = { requestsLost: 0.04, repliesLost: 0.08, doubled: 0.03, delayed: 0.02 }

/** Milliseconds by which a late message is late, at most. */
const LATEST = 200

const DISTURBED = ['"tools/call"', METHODS.open, METHODS.turn]

/** Draws the fate of every step, opening and wait for a turn. What a client says when it connects is not disturbed. */
export function drawFates(rng: Rng, weather: Weather): (request: string) => Fate {
  const { requestsLost, repliesLost, doubled, delayed, repliesCut = 0 } = weather
  const late = () => ({ milliseconds: rng.int(1, LATEST) })
  return (request) => {
    if (!DISTURBED.some((method) => request.includes(method))) return { kind: 'fine' }
    let draw = rng.float()
    const falls = (share: number) => {
      draw -= share
      return draw < 0
    }
    if (falls(requestsLost)) return { kind: 'request-lost' }
    if (falls(repliesLost)) return { kind: 'reply-lost' }
    if (falls(doubled / 3)) return { kind: 'doubled' }
    if (falls(doubled / 3)) return { kind: 'late-copy', ...late() }
    if (falls(doubled / 3)) return { kind: 'straggler', ...late() }
    if (falls(delayed)) return { kind: 'delayed', ...late() }
    if (falls(repliesCut)) return { kind: 'reply-cut' }
    return { kind: 'fine' }
  }
}
