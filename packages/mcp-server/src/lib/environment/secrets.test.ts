import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { containsListed, type SecretKind, Secrets } from './secrets.ts'

class Withheld extends Error {
  readonly found: unknown
  constructor(found: unknown) {
    super('Withheld.')
    this.found = found
  }
}

const OWN = { seed: 'seed-of-a-session', id: 'i'.repeat(22), control: `ctl_${'i'.repeat(22)}c` }
const CAPABILITY = `cap_0${OWN.id}p`

function keep(declared: () => readonly string[]): Secrets {
  return new Secrets({ ...OWN, capabilities: [CAPABILITY], declared, withhold: (found) => new Withheld(found) })
}

/** What is found in a text, said to somebody who said something. The world tells all of it, unless it is said otherwise. */
function findIn(secrets: Secrets, text: string, said = '', told: string | null = text): SecretKind | null {
  try {
    secrets.assertAbsent({ text, callerText: () => said, worldText: told === null ? null : () => told })
    return null
  } catch (error) {
    return (error as Withheld).found as SecretKind
  }
}

const anyText = fc.string({ unit: 'binary', maxLength: 60 })
const anySecret = fc.string({ unit: 'binary', minLength: 8, maxLength: 40 })

describe('Secrets', () => {
  it('finds a declared text wherever it stands, as it is and as JSON and JSON in JSON write it', () => {
    fc.assert(
      fc.property(anySecret, anyText, anyText, (secret, before, after) => {
        const secrets = keep(() => [secret])
        const plain = `${before}${secret}${after}`
        const nested = JSON.stringify({ text: JSON.stringify({ plain }) })
        for (const text of [plain, JSON.stringify({ plain }), nested]) expect(findIn(secrets, text)).toBe('declared')
      }),
    )
  })

  it('lets through what has none of them in it', () => {
    fc.assert(
      fc.property(fc.array(anySecret), anyText, (listed, text) => {
        fc.pre(!listed.some((secret) => text.includes(secret)))
        expect(
          findIn(
            keep(() => listed),
            text,
          ),
        ).toBeNull()
      }),
    )
  })

  it('lets a caller hear what it said itself, in whatever form', () => {
    fc.assert(
      fc.property(anySecret, (secret) => {
        const secrets = keep(() => [secret])
        expect(findIn(secrets, `You said ${secret}.`, JSON.stringify({ word: secret }))).toBeNull()
      }),
    )
  })

  it('searches what the world tells for what it declares, and everything for its own', () => {
    fc.assert(
      fc.property(anySecret, anyText, anyText, (secret, envelope, told) => {
        const secrets = keep(() => [secret])
        fc.pre(!told.includes(secret))
        expect(findIn(secrets, `${envelope}${secret}${told}`, '', told)).toBeNull()
        expect(findIn(secrets, `${envelope}${secret}${told}`, '', null)).toBeNull()
        expect(findIn(secrets, `${envelope}${told}${secret}`, '', `${told}${secret}`)).toBe('declared')
        for (const own of [told, null]) expect(findIn(secrets, `${secret}${OWN.id}${told}`, '', own)).toBe('id')
      }),
    )
  })

  it('tells its own secrets apart', () => {
    const secrets = keep(() => [])
    for (const kind of ['seed', 'id', 'control'] as const) expect(findIn(secrets, `<${OWN[kind]}>`)).toBe(kind)
    expect(findIn(secrets, `<${CAPABILITY}>`)).toBe('capability')
    expect(findIn(secrets, `<${CAPABILITY}>`, `/mcp/s/${CAPABILITY}`)).toBeNull()
    expect(findIn(secrets, `<${OWN.control}>`, `/mcp/s/${CAPABILITY}`)).toBe('control')
  })

  it('does not search for what turns up by chance', () => {
    const secrets = keep(() => ['42', '', 'seven77'])
    expect(findIn(secrets, 'It was 42, and seven77.')).toBeNull()
    const short = new Secrets({
      ...OWN,
      seed: '7',
      capabilities: [],
      declared: () => [],
      withhold: () => new Withheld(''),
    })
    expect(findIn(short, '7 of 7')).toBeNull()
  })

  it('goes by what is declared at the time', () => {
    let listed = ['the first secret']
    const secrets = keep(() => listed)
    expect(findIn(secrets, 'the first secret')).toBe('declared')
    listed = []
    expect(findIn(secrets, 'the first secret')).toBeNull()
    listed = ['the second secret']
    expect(findIn(secrets, 'the first secret')).toBeNull()
    expect(findIn(secrets, 'the second secret')).toBe('declared')
    listed[0] = 'the third secret'
    expect(findIn(secrets, 'the third secret')).toBe('declared')
  })

  it('lets nothing out where it cannot be said what is secret', () => {
    const cause = new Error('No list.')
    const secrets = keep(() => {
      throw cause
    })
    expect(findIn(secrets, 'anything')).toEqual({ cause })
    expect(findIn(secrets, 'anything', '', null)).toBeNull()
  })
})

describe('containsListed', () => {
  it('finds a listed text in each of its forms, unless it was said', () => {
    fc.assert(
      fc.property(anySecret, anyText, (secret, before) => {
        const told = `${before}${secret}`
        for (const text of [told, JSON.stringify({ told })]) {
          expect(containsListed(['something else', secret], text, '')).toBe(true)
          expect(containsListed([secret], text, JSON.stringify([secret]))).toBe(false)
        }
        expect(containsListed([secret], '', '')).toBe(false)
      }),
    )
  })
})
