import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findSecrets, formsOf } from './encodings.ts'

const secret = fc.stringMatching(/^[a-f0-9]{24}$/)
/** Noise without runs of hexadecimal digits, so that it contains no part of a secret by chance. */
const noise = fc.stringMatching(/^[ .,:;!?ghijkxyzGHIJKXYZ]{0,40}$/)

/** The ways in which a secret may leak. */
const disguises: Readonly<Record<string, (secret: string, before: string, after: string) => string>> = {
  plain: (text, before, after) => before + text + after,
  'in upper case': (text, before, after) => before + text.toUpperCase() + after,
  'in JSON in JSON': (text, before, after) => JSON.stringify({ said: JSON.stringify({ text: before + text + after }) }),
  'in \\u escapes': (text, before, after) =>
    before + text.replace(/./g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`) + after,
  'in base64, at any offset': (text, before, after) => btoa(before + text + after),
  'in base64url': (text, before, after) => Buffer.from(before + text + after).toString('base64url'),
  'in hexadecimal': (text, before, after) => Buffer.from(before + text + after).toString('hex'),
  'percent-encoded': (text, before, after) =>
    before + Buffer.from(text).toString('hex').replace(/../g, '%$&').toUpperCase() + after,
  reversed: (text, before, after) => [...(before + text + after)].reverse().join(''),
}

describe('findSecrets', () => {
  it.each(Object.keys(disguises))('finds a secret %s', (disguise) => {
    fc.assert(
      fc.property(secret, noise, noise, (text, before, after) => {
        const found = findSecrets((disguises[disguise] as (typeof disguises)[string])(text, before, after), [
          ['it', formsOf(text)],
        ])
        expect(found.map((match) => match.secret)).toEqual(['it'])
      }),
    )
  })

  it('finds nothing in a text without the secret', () => {
    fc.assert(
      fc.property(secret, secret, noise, (text, other, around) => {
        fc.pre(text !== other)
        for (const disguise of Object.values(disguises))
          expect(findSecrets(disguise(other, around, around), [['it', formsOf(text)]])).toEqual([])
      }),
    )
  })

  it('finds a secret with special characters in each encoding', () => {
    const text = 'pässword/with "quotes"?'
    for (const said of [JSON.stringify(text), encodeURIComponent(text), Buffer.from(`..${text}`).toString('base64')])
      expect(findSecrets(said, [['it', formsOf(text)]])).toHaveLength(1)
  })
})
