import { describe, expect, it } from 'vitest'
import { createSentKeys, type KeyedRequest } from './sent-keys.ts'

const KEY = 'nobody/may+read "this"=='
const PLAIN = 'nobody-may-read-this'

/** Takes the keys of one request out of a text. */
function redacted(text: string, request: Partial<KeyedRequest>): string {
  const keys = createSentKeys()
  keys.add({ headers: {}, query: '', body: null, ...request })
  return keys.redact(text)
}

describe('createSentKeys', () => {
  it.each([
    'authorization',
    'proxy-authorization',
    'api-key',
    'x-api-key',
    'x-goog-api-key',
    'ocp-apim-subscription-key',
    'x-auth-token',
    'helicone-auth',
    'x-access-tokens',
    'x-amz-signature',
    'x-client-secret',
    'x-password',
    'cookie',
    'openai_api_key_2',
  ])('takes the value of the header %s out of texts', (name) => {
    expect(redacted(`It is ${PLAIN}.`, { headers: { [name]: PLAIN } })).toBe('It is [key].')
  })

  it.each(['user-agent', 'x-monitor', 'content-type', 'x-author', 'idempotency-key', 'x-tokenizer'])(
    'leaves the value of the header %s',
    (name) => {
      expect(redacted(`It is ${PLAIN}.`, { headers: { [name]: PLAIN } })).toBe(`It is ${PLAIN}.`)
    },
  )

  it.each(['Bearer', 'bearer', 'Token', 'ApiKey', 'AWS4-HMAC-SHA256'])('leaves the scheme %s', (scheme) => {
    expect(redacted(`You sent ${scheme} ${PLAIN}.`, { headers: { authorization: `${scheme} ${PLAIN}` } })).toBe(
      `You sent ${scheme} [key].`,
    )
  })

  it('takes the credentials of HTTP Basic out as they are sent and as they are read', () => {
    const basic = (credentials: string) => ({
      headers: { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` },
    })
    const sent = basic('agent:sesame:opens')
    expect(redacted(`You sent ${sent.headers.authorization}.`, sent)).toBe('You sent Basic [key].')
    expect(redacted('agent:sesame:opens, so it is sesame:opens', sent)).toBe('[key], so it is [key]')
    expect(redacted(`It is ${PLAIN}.`, basic(`${PLAIN}:`))).toBe('It is [key].')
    expect(redacted('I am agent x.', basic('agent:x'))).toBe('I am agent x.')
  })

  it('takes each of several values out', () => {
    const headers = { cookie: `theme=dark; session=${PLAIN}`, 'x-api-key': `another-${PLAIN}, "third-${PLAIN}"` }
    expect(redacted(`${PLAIN} another-${PLAIN} third-${PLAIN}`, { headers })).toBe('[key] [key] [key]')
  })

  it.each(['key', 'api_key', 'apiKey', 'access_token', 'sig', 'X-Amz-Credential'])(
    'takes the value of the parameter %s out, as it is written and as it is read',
    (name) => {
      const query = `?alt=sse&${name}=${encodeURIComponent(KEY)}&limit=2`
      expect(redacted(`GET ${query}: "${KEY}"`, { query })).toBe(`GET ?alt=sse&${name}=[key]&limit=2: "[key]"`)
      expect(redacted(JSON.stringify({ KEY }), { query })).toBe('{"KEY":"[key]"}')
    },
  )

  it('takes keys in fields of a body out, of any depth', () => {
    const tool = { type: 'mcp', authorization: `Bearer ${PLAIN}-1`, headers: { 'X-API-Key': `${PLAIN}-2` } }
    const body = { model: 'm', tools: [tool], apiKey: `${PLAIN}-3`, extra: [{ clientSecrets: [`${PLAIN}-4`] }] }
    expect(redacted([1, 2, 3, 4].map((i) => `${PLAIN}-${i}`).join(), { body })).toBe('[key],[key],[key],[key]')
    let deep: object = { token: PLAIN }
    for (let i = 0; i < 100_000; i++) deep = [deep]
    expect(redacted(PLAIN, { body: deep })).toBe('[key]')
  })

  it('leaves texts of a body that are no keys, and short placeholders', () => {
    const schema = { properties: { api_key: { type: 'string', description: 'The key of the chest.' } } }
    const body = {
      max_tokens: 1_000,
      prompt_cache_key: 'number-guessing-1',
      tools: [{ parameters: schema }],
      messages: [{ role: 'user', content: 'What is the key of the chest?' }],
    }
    const texts = 'The key of the chest. number-guessing-1 What is the key of the chest? EMPTY'
    expect(redacted(texts, { body, headers: { authorization: 'Bearer EMPTY' } })).toBe(texts)
  })

  it('takes a short key with letters and digits out, unless a field of a body has it', () => {
    expect(redacted('It is abc-1234.', { headers: { authorization: 'Bearer abc-1234' } })).toBe('It is [key].')
    expect(redacted('It is abc-1234.', { query: '?key=abc-1234' })).toBe('It is [key].')
    expect(redacted('Open chest-42.', { body: { input: { key: 'chest-42' } } })).toBe('Open chest-42.')
    const placeholders = 'EMPTY ollama lm-studio 00000000'
    for (const word of placeholders.split(' '))
      expect(redacted(placeholders, { headers: { authorization: `Bearer ${word}` } })).toBe(placeholders)
  })

  it.each([
    ['base64', Buffer.from(KEY).toString('base64').replace(/=+$/, '')],
    ['base64url', Buffer.from(KEY).toString('base64url')],
    ['hexadecimal digits', Buffer.from(KEY).toString('hex')],
    ['an address', encodeURIComponent(KEY)],
  ])('takes a key out that is quoted as %s', (_, quoted) => {
    expect(redacted(`You sent ${quoted}!`, { headers: { 'x-api-key': KEY } })).toBe('You sent [key]!')
  })

  it('takes a key out whole that contains another one', () => {
    expect(redacted(`${PLAIN}-2 ${PLAIN}`, { headers: { 'api-key': PLAIN, 'x-api-key': `${PLAIN}-2` } })).toBe(
      '[key] [key]',
    )
  })
})
