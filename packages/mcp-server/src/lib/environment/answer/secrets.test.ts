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

const CONTROL = `ctl_${'i'.repeat(22)}c`
const OWN = { seed: 'seed-of-a-session', id: 'i'.repeat(22), controls: [CONTROL] }
const CAPABILITY = `cap_0${OWN.id}p`

function keep(declared: () => readonly string[]): Secrets {
  return new Secrets({ ...OWN, capabilities: [CAPABILITY], declared, withhold: (found) => new Withheld(found) })
}

/** Returns what is found in an answer to a caller who said `said`. By default all of it comes from the environment. */
function findIn(secrets: Secrets, text: string, said = '', shown: string | null = text): SecretKind | null {
  try {
    secrets.assertAbsent({ text, callerText: () => said, worldText: shown === null ? null : () => shown })
    return null
  } catch (error) {
    return (error as Withheld).found as SecretKind
  }
}

const anyText = fc.string({ unit: 'binary', maxLength: 60 })
const anySecret = fc.string({ unit: 'binary', minLength: 8, maxLength: 40 })

describe('Secrets', () => {
  it('searches the part of the environment for what it lists, and the whole answer for the secrets of the session', () => {
    fc.assert(
      fc.property(anySecret, anyText, anyText, (secret, envelope, shown) => {
        const secrets = keep(() => [secret])
        fc.pre(!shown.includes(secret))
        expect(findIn(secrets, `${envelope}${secret}${shown}`, '', shown)).toBeNull()
        expect(findIn(secrets, `${envelope}${secret}${shown}`, '', null)).toBeNull()
        expect(findIn(secrets, `${envelope}${shown}${secret}`, '', `${shown}${secret}`)).toBe('declared')
        for (const own of [shown, null]) expect(findIn(secrets, `${secret}${OWN.id}${shown}`, '', own)).toBe('id')
      }),
    )
  })

  it('names the kind of each secret of the session', () => {
    const secrets = keep(() => [])
    for (const [kind, secret] of Object.entries({ seed: OWN.seed, id: OWN.id, control: CONTROL }))
      expect(findIn(secrets, `<${secret}>`)).toBe(kind)
    expect(findIn(secrets, `<${CAPABILITY}>`)).toBe('capability')
    expect(findIn(secrets, `<${CAPABILITY}>`, `/mcp/s/${CAPABILITY}`)).toBeNull()
    expect(findIn(secrets, `<${CONTROL}>`, `/mcp/s/${CAPABILITY}`)).toBe('control')
  })

  it('does not search for texts so short that they occur by chance', () => {
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

  it('searches for what is listed at the time', () => {
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
})

describe('containsListed', () => {
  it('finds a listed text in each of its forms, unless it was said', () => {
    fc.assert(
      fc.property(anySecret, anyText, (secret, before) => {
        const shown = `${before}${secret}`
        for (const text of [shown, JSON.stringify({ shown })]) {
          expect(containsListed(['something else', secret], text, '')).toBe(true)
          expect(containsListed([secret], text, JSON.stringify([secret]))).toBe(false)
        }
        expect(containsListed([secret], '', '')).toBe(false)
      }),
    )
  })
})
