import { describe, expect, it } from 'vitest'
import { createSigner } from './signer.ts'

describe('createSigner', () => {
  it.each([null, 'a secret'])('opens what it signed for the same place, with the secret %j', (secret) => {
    const signer = createSigner(secret)
    const signed = signer.sign('job 1', 'what to play: ü')
    expect(createSigner(secret).open('job 1', signed)).toBe('what to play: ü')
    const tampered = { code: 'queue-tampered' }
    expect(() => signer.open('job 2', signed)).toThrow(expect.objectContaining(tampered))
    expect(() => signer.open('job 1', `${signed} `)).toThrow(expect.objectContaining(tampered))
    expect(() => signer.open('job 1', 'short')).toThrow(expect.objectContaining(tampered))
  })

  it('does not take the border between place and text for another one', () => {
    const signer = createSigner('a secret')
    const [mac, text] = [signer.sign('a', 'bc').slice(0, 43), 'c']
    expect(() => signer.open('ab', mac + text)).toThrow('Its signature does not fit')
  })

  it('refuses another secret, none, and one that it does not have', () => {
    const [none, one, other] = [createSigner(null), createSigner('one'), createSigner('other')]
    expect(() => other.open('p', one.sign('p', 'x'))).toThrow('another EPISODIC_QUEUE_SECRET')
    expect(() => one.open('p', none.sign('p', 'x'))).toThrow('has no or another EPISODIC_QUEUE_SECRET')
    expect(() => none.open('p', one.sign('p', 'x'))).toThrow('a secret that is not given here as EPISODIC_QUEUE_SECRET')
  })
})
