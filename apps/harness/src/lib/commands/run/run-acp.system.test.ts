import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { EpisodeRecord } from '@episodic/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exampleWorld, openWorkshop, readEpisodes, type Workshop } from '../../fixtures/episodic.fixture.ts'

const AGENT = fileURLToPath(new URL('../../fixtures/agents/acp-agent.fixture.ts', import.meta.url))
const WORLD = exampleWorld('number-guessing')

let workshop: Workshop
beforeAll(() => {
  workshop = openWorkshop()
})
afterAll(() => workshop[Symbol.dispose]())

function run(policy: string, out: string, env: Record<string, string> = {}, ...options: string[]) {
  return workshop.main(['run', WORLD, '--policy', policy, '--tasks', '2', '--out', out, ...options], { env })
}

const episodesOf = (out: string) => readEpisodes(join(workshop.folder, out)) as EpisodeRecord[]

describe('episodic run --policy acp:<agent>', () => {
  it('plays with an agent, and records what it planned, thought, called, was allowed and said', async () => {
    expect(await run(`acp:node ${AGENT}`, 'played')).toMatchObject({ status: 0 })
    for (const { outcome, steps } of episodesOf('played')) {
      expect(outcome).toMatchObject({ kind: 'finished', end: { reason: 'solved' } })
      // What it says after the last call need not be waited for.
      for (const [i, { action, completions = [] }] of steps.slice(0, -1).entries()) {
        const { value } = action.arguments
        expect(completions).toMatchObject([
          {
            model: 'halving',
            reasoning: `${i === 0 ? '[in_progress] Halve what is left\n' : ''}I try ${value}.\n[allowed] world: guess\n`,
            calls: [{ name: 'world: guess', arguments: JSON.stringify({ value }) }],
            cost: null,
          },
        ])
      }
    }
    const replay = await workshop.main(['replay', 'played', '--world', WORLD, '--json'])
    expect(JSON.parse(replay.out)).toMatchObject({ replayed: 2, diverged: 0 })
  })

  it.each([
    ['of an unknown kind', [{ optionId: 'x', name: 'Allow', kind: 'allow_for_session' }]],
    [
      'without a kind',
      [
        { optionId: 'no', name: 'Reject' },
        { optionId: 'x', name: 'Yes' },
      ],
    ],
    [
      'known by its place alone',
      [
        { optionId: 'no', name: "Don't allow" },
        { optionId: '1', name: 'Go', kind: 'new' },
      ],
    ],
    [
      'that allows once',
      [
        { optionId: 'no', name: 'Allow', kind: 'reject_once' },
        { optionId: 'y', name: 'Y', kind: 'allow_once' },
      ],
    ],
  ])('grants a permission by an option %s', async (_, options) => {
    const out = `granted-${options[0]!.optionId}-${options.length}-${options.at(-1)!.name}`
    expect(await run(`acp:node ${AGENT}`, out, { OPTIONS: JSON.stringify(options) })).toMatchObject({ status: 0 })
    for (const { outcome } of episodesOf(out)) expect(outcome).toMatchObject({ end: { reason: 'solved' } })
  })

  it.each([
    [
      'codex',
      'npx',
      { CODEX_CONFIG: '{"model":"m","model_providers":{"own":{"name":"own"}}}' },
      (url: string) => ({
        CODEX_CONFIG: {
          model: 'm',
          model_provider: 'episodic',
          model_providers: { own: { name: 'own' }, episodic: { base_url: url, wire_api: 'responses' } },
        },
      }),
    ],
    [
      'opencode',
      'opencode',
      { OPENCODE_CONFIG_CONTENT: '{"model":"episodic/m","provider":{"own":{}}}' },
      (url: string) => ({
        OPENCODE_CONFIG_CONTENT: {
          model: 'episodic/m',
          provider: { own: {}, episodic: { options: { baseURL: url }, models: { m: {} } } },
        },
      }),
    ],
    [
      'vibe',
      'vibe-acp',
      // Its agent takes an MCP server over HTTP, but does not say so.
      { VIBE_ACTIVE_MODEL: 'm', NO_HTTP: '1' },
      (url: string) => ({
        VIBE_MODELS: [{ name: 'm', provider: 'episodic', alias: 'm' }],
        VIBE_PROVIDERS: [{ name: 'episodic', api_base: url, api_key_env_var: 'OPENAI_API_KEY' }],
      }),
    ],
    [
      'kimi',
      'kimi',
      { KIMI_MODEL_NAME: 'm' },
      (url: string) => ({ KIMI_MODEL_BASE_URL: url, KIMI_MODEL_PROVIDER_TYPE: 'openai', KIMI_MODEL_API_KEY: 'KEY' }),
    ],
    [
      'copilot',
      'copilot',
      { COPILOT_MODEL: 'm' },
      (url: string) => ({ COPILOT_PROVIDER_BASE_URL: url, COPILOT_PROVIDER_API_KEY: 'KEY', COPILOT_OFFLINE: true }),
    ],
  ])('leads %s to the address of its models by the variables that it reads', async (name, program, own, wanted) => {
    const bin = join(workshop.folder, `bin-${name}`)
    mkdirSync(bin)
    // In place of the program that would be installed.
    const script = `#!/bin/sh\nenv > "${bin}/variables"\nexec node ${AGENT}\n`
    writeFileSync(join(bin, program), script, { mode: 0o755 })
    const env = { PATH: `${bin}:${process.env.PATH}`, OPENAI_API_KEY: 'none', ...own }
    const models = ['--record-models', '--token-ids', '--base-url', 'http://127.0.0.1:1/v1', '--concurrency', '1']
    expect(await run(`acp:${name}`, name, env, ...models)).toMatchObject({ status: 0 })
    const lines = readFileSync(join(bin, 'variables'), 'utf8').split('\n')
    const given = Object.fromEntries(lines.map((line) => line.split(/=(.*)/)))
    const read = (text: string) =>
      /^[[{t]/.test(text) ? JSON.parse(text) : text === given.OPENAI_API_KEY ? 'KEY' : text
    const expected = wanted(given.OPENAI_BASE_URL)
    const found = Object.fromEntries(Object.keys(expected).map((variable) => [variable, read(given[variable])]))
    expect(found).toMatchObject(expected)
  })

  it('cancels an agent that takes too long', async () => {
    await run(`acp:node ${AGENT}`, 'slow', { HANG: '1' }, '--file', '{"episodeTimeout":2}')
    for (const { outcome } of episodesOf('slow')) expect(outcome).toMatchObject({ end: { reason: 'out-of-time' } })
  })

  it.each([
    ['takes no server over HTTP', `node ${AGENT}`, { NO_HTTP: '1' }, /The agent takes no MCP server over HTTP/],
    [
      'cannot go on',
      `node ${AGENT}`,
      { FAIL: '1' },
      /^The agent answered with an error: Internal error \({"details":"There is no model."}\)$/,
    ],
    ['wants a login', `node ${AGENT}`, { LOGIN: '1' }, /The agent wants a login \(API key\)/],
    ['exits while it plays', `node ${AGENT}`, { CRASH: '1' }, /The agent ended with status 3/],
    ['is no agent', 'echo no agent is here >&2; exit 4', {}, /The agent ended with status 4: no agent is here/],
  ])('fails an episode whose agent %s, with the reason', async (name, command, env, reason) => {
    const out = name.replaceAll(' ', '-')
    await run(`acp:${command}`, out, env)
    for (const { outcome } of episodesOf(out))
      expect(outcome).toMatchObject({
        kind: 'failed',
        error: { code: 'policy-failed', message: expect.stringMatching(reason) },
      })
  })
})
