import { describe, expect, it } from 'vitest'
import { playerEnvironment, secretsOf } from './player-environment.ts'

const TOKEN = 'a-token-of-the-operator'

describe('playerEnvironment', () => {
  it('passes on no variable of Episodic, and the others', () => {
    const environment = {
      PATH: '/bin',
      HOME: '/home/me',
      OPENAI_API_KEY: 'sk-of-the-agent',
      EPISODIC_HOME: '/home/me',
      EPISODIC_TOKEN: TOKEN,
      EPISODIC_CONTROL_TOKEN: TOKEN,
      EPISODIC_QUEUE_PASSWORD: 'x',
      episodic_queue_secret: TOKEN,
      EPISODIC_MCP_URL: 'http://127.0.0.1/mcp/s/outer',
    }
    const { PATH, HOME, OPENAI_API_KEY } = environment
    expect(playerEnvironment([], environment)).toEqual({ PATH, HOME, OPENAI_API_KEY })
  })

  it('passes on no variable that holds a secret, contains one or is a part of one, under whatever name', () => {
    const password = 'p@ss-of-the-queue'
    const queue = `redis://user:${encodeURIComponent(password)}@10.0.0.5:6379`
    const secrets = secretsOf({ url: 'http://127.0.0.1/env', headers: { authorization: `Bearer ${TOKEN}` } }, queue)
    const environment = {
      PATH: '/bin',
      EMPTY: '',
      SHORT: 'a',
      EPISODIC_CONTROL_TOKEN: 'another-token',
      A: TOKEN,
      B: `Bearer ${TOKEN}`,
      C: queue,
      D: password,
      E: 'the same is another-token',
    }
    expect(playerEnvironment(secrets, environment)).toEqual({ PATH: '/bin', EMPTY: '', SHORT: 'a' })
  })

  it('finds short secrets where they are the whole value', () => {
    expect(playerEnvironment(secretsOf({ url: 'ws://h/env', token: 'abc' }), { A: 'abc', B: 'abcdef' })).toEqual({
      B: 'abcdef',
    })
  })
})
