import { describe, expect, it } from 'vitest'
import { type CallEvidence, classifyCall } from './tool-call.ts'

const evidence = (known: Partial<CallEvidence>): CallEvidence => ({
  sent: 2,
  played: 3,
  sameAsLast: true,
  ended: false,
  returnsCookies: true,
  likelyReturnsCookies: false,
  delivery: 'waiting',
  closesConnections: false,
  ...known,
})

describe('classifyCall', () => {
  it.each([
    ['a client that returns cookies has every answer', { sent: 3 }, 'new'],
    ['a client that returns cookies lacks the last answer', {}, 'repeated'],
    ['it lacks the last answer, and sends another call', { sameAsLast: false }, 'late, with doubt'],
    ['it lacks more than one answer', { sent: 1 }, 'late, with doubt'],
    ['it lacks more than one answer, and the last one was lost', { sent: 1, delivery: 'lost' }, 'late, with doubt'],
    ['its cookie is the first proof that it returns them', { sent: 1, returnsCookies: false }, 'late, with doubt'],
  ] as const)('%s', (_, known, expected) => {
    expect(verdictOf(evidence(known))).toBe(expected)
  })

  it.each([
    ['the last answer could not be written', { delivery: 'lost' }, 'repeated, with doubt'],
    ['the connection is still open', { delivery: 'waiting' }, 'new, with doubt'],
    ['the connection was used again', { delivery: 'read' }, 'new, with doubt'],
    ['the connection closed after the answer', { delivery: 'cut' }, 'repeated, with doubt'],
    ['the client closes each connection', { delivery: 'cut', closesConnections: true }, 'new, with doubt'],
    ['another process answered', { delivery: null }, 'repeated, with doubt'],
    ['another process answered, and the call differs', { delivery: null, sameAsLast: false }, 'new, with doubt'],
    ['its kind returns cookies', { likelyReturnsCookies: true, played: 1 }, 'repeated, with doubt'],
    ['the episode is over, so nothing can be played', { delivery: 'read', ended: true }, 'repeated'],
    ['its kind returns cookies, and it does not', { likelyReturnsCookies: true, delivery: 'read' }, 'new, with doubt'],
  ] as const)('without cookies: %s', (_, known, expected) => {
    expect(verdictOf(evidence({ sent: 0, returnsCookies: false, ...known }))).toBe(expected)
  })
})

function verdictOf(known: CallEvidence): string {
  const { kind, doubtful } = classifyCall(known)
  return `${kind}${doubtful ? ', with doubt' : ''}`
}
