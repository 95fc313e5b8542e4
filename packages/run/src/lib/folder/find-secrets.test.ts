import { describe, expect, it } from 'vitest'
import { findSecrets, withoutSecrets } from './find-secrets.ts'

/** Of no one: made of the alphabet, so that no program takes this file for a leak. */
const LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const some = (count: number, of = LETTERS) => of.repeat(2).slice(0, count)

const KEYS: readonly (readonly [kind: string, text: string])[] = [
  ['an API key (sk-…)', `sk-${some(48)}`],
  ['an API key (sk-…)', `sk-proj-${some(40)}`],
  ['an API key (sk-…)', `sk-ant-api03-${some(60)}`],
  ['a token of GitHub', `ghp_${some(36)}`],
  ['a token of GitHub', `github_pat_${some(40)}`],
  ['a token of GitLab', `glpat-${some(20)}`],
  ['an access key of AWS', `AKIA${some(16, 'ABCDEFGH23456789')}`],
  ['a token of Slack', `xoxb-${some(24)}`],
  ['an API key of Google', `AIza${some(35)}`],
  ['a token of Hugging Face', `hf_${some(34)}`],
  ['a token of npm', `npm_${some(36)}`],
  ['an API key of Groq', `gsk_${some(52)}`],
  ['an API key of xAI', `xai-${some(60)}`],
  ['a key of Stripe', `sk_live_${some(24)}`],
  ['a JSON web token', `eyJ${some(20)}.eyJ${some(30)}.${some(43)}`],
  ['a private key', `-----BEGIN ${'PRIVATE'} KEY-----`],
  ['a private key', `-----BEGIN OPENSSH ${'PRIVATE'} KEY-----`],
]

const found = (value: unknown, variables: readonly (readonly [string, string])[] = []) => [
  ...findSecrets(value, variables),
]

describe('findSecrets', () => {
  it.each(KEYS)('finds %s in texts, in arguments as JSON and behind a line break', (kind, key) => {
    expect(found(key)).toEqual([{ field: '', kind }])
    expect(found({ steps: [{ text: `Use ${key}, please.` }] })).toEqual([{ field: 'steps.0.text', kind }])
    expect(found({ arguments: JSON.stringify({ header: `Bearer ${key}`, lines: `a\n${key}` }) })).toEqual([
      { field: 'arguments', kind },
    ])
  })

  it('finds keys in names of fields, and never shows them', () => {
    const [, key] = KEYS[0] as readonly [string, string]
    expect(found({ headers: { [key]: 'x', other: key } })).toEqual([
      { field: 'headers.…', kind: 'an API key (sk-…)' },
      { field: 'headers.other', kind: 'an API key (sk-…)' },
    ])
    expect(JSON.stringify(found({ [key]: { [key]: [key] } }))).not.toContain(key)
  })

  it('finds the values of secret variables', () => {
    expect(found({ text: 'it is correct-horse-battery' }, [['LAB_TOKEN', 'correct-horse-battery']])).toEqual([
      { field: 'text', kind: 'the value of LAB_TOKEN in this environment' },
    ])
  })

  it('takes words, hashes and short texts for what they are', () => {
    const ordinary = [
      'a task-description-that-is-rather-long-indeed',
      'risk-assessment-of-the-warehouse-robot',
      'sk-learn',
      'f3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
      'eyJ is how such tokens begin',
      'AKIA and AIza are prefixes',
      'the private key is under the mat',
    ]
    expect(found(ordinary)).toEqual([])
  })
})

describe('withoutSecrets', () => {
  it('takes a private key out with all of its lines, and leaves JSON within JSON whole', () => {
    const key = '-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4\n\nMIIabc+/=\n-----END RSA PRIVATE KEY-----'
    const torn = '-----BEGIN PRIVATE KEY-----\nMIIabc\\'
    const json = JSON.stringify({ text: `first ${key} "last"`, torn, inner: JSON.stringify({ torn, more: 'more' }) })
    const without = JSON.parse(withoutSecrets(json, []))
    expect(without).toMatchObject({ text: 'first [key] "last"', torn: '[key]' })
    expect(JSON.parse(without.inner)).toEqual({ torn: '[key]', more: 'more' })
  })

  it('takes out the values of variables', () => {
    const value = 'a "quoted" value of a variable'
    expect(JSON.parse(withoutSecrets(JSON.stringify([`<${value}>`]), [['SOME_TOKEN', value]]))).toEqual(['<[key]>'])
  })
})
