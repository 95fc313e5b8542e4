import { fileURLToPath } from 'node:url'
import { CHECKS, type CheckName } from '@episodic/check/check-report'
import { checkWorld } from '@episodic/check/check-world'
import { type LeverFlaw, leverWorld } from '@episodic/check/lever-world.fixture'
import { definePolicy } from '@episodic/env'
import { defineEnvironment } from '@episodic/mcp-server'
import { loadWorld } from '@episodic/play/worlds/world'
import type { JsonObject, LegalActions, Rng } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'

const ROOT = fileURLToPath(new URL('../../../../../../', import.meta.url))

interface Weighing {
  readonly heavier: boolean
  /** What the scale also shows, and should not. */
  readonly also?: number
}

/** Two stones, of which the heavier has to be taken; a program outside weighs them. */
function weighed(
  weigh: (context: {
    readonly state: { readonly private: { readonly heavy: number } }
    readonly input: object
    readonly rng: Rng
    readonly isLast: boolean
  }) => Weighing,
) {
  return {
    environment: defineEnvironment({
      name: 'stones',
      version: '1.0.0',
      description: 'Take the heavier of two stones.',
      params: z.object({}),
      state: { public: z.object({ shown: z.int() }), private: z.object({ heavy: z.int().min(0).max(1) }) },
      limits: { steps: 4 },
      start: ({ rng }) => ({ public: { shown: 0 }, private: { heavy: rng.int(0, 1) } }),
      observe: ({ shown }) => `The scale shows ${shown}.`,
      tools: ({ tool }) => ({
        weigh: tool({
          description: 'Ask whether the first stone is the heavier one.',
          input: z.object({}),
          prepared: z.object({ heavier: z.boolean(), also: z.int().optional() }),
          repeatable: true,
          prepare: async (context) => weigh(context),
          play({ state, prepared: { heavier, also = 0 }, reveal, say }) {
            state.public.shown = also
            return say(reveal(heavier) ? 'Yes.' : 'No.')
          },
        }),
        take: tool({
          description: 'Take a stone.',
          input: z.object({ stone: z.int().min(0).max(1).describe('Which one, from 0.') }),
          play({ state, input, reveal, end, say }) {
            end(reveal(input.stone === state.private.heavy) ? 'heavier' : 'lighter')
            return say('Taken.')
          },
        }),
      }),
      rewards: { taken: ({ end }) => (end?.reason === 'heavier' ? 1 : 0) },
      success: ({ end }) => end.reason === 'heavier',
    }),
    solver: definePolicy({
      name: 'weigher',
      start:
        () =>
        ({ text }) =>
          /^(Yes|No)\./.test(text)
            ? { tool: 'take', arguments: { stone: text.startsWith('Yes') ? 0 : 1 } }
            : { tool: 'weigh', arguments: {} },
    }),
  }
}

/** Runs one check on the lever world with a flaw. */
async function checkOne(only: CheckName, flaw: LeverFlaw = {}, seed = '0') {
  const report = await checkWorld(leverWorld(flaw), { only: [only], seed, pairs: 30 })
  const [result] = report.checks
  if (!result) throw new Error(`${only} did not run.`)
  return {
    ...result,
    ok: report.ok,
    found: result.findings.map(({ what }) => what).join('\n'),
    names: result.findings.map(({ name }) => name),
  }
}

describe('checkWorld', () => {
  it('passes a sound world', async () => {
    const report = await checkWorld(leverWorld(), { pairs: 60 })
    expect(report.checks.map(({ name, outcome, findings }) => [name, outcome, findings])).toEqual(
      CHECKS.map((name) => [name, 'passed', []]),
    )
    expect(report).toMatchObject({ ok: true, seed: '0', world: { name: 'levers', version: '1.0.0' } })
  })

  it('rejects a world with neither defaults nor tasks', async () => {
    const { environment } = leverWorld()
    const demanding = { ...environment, params: z.object({ asked: z.string() }) }
    await expect(checkWorld({ environment: demanding })).rejects.toMatchObject({ code: 'world-invalid' })
  })

  it('wants a description of each argument, and not of what it is made of', async () => {
    const { environment } = leverWorld()
    const input = z.object({
      coin: z.union([z.literal(1), z.literal(5)]).describe('The coin.'),
      marks: z
        .array(z.object({ at: z.int().min(0).max(9) }))
        .max(3)
        .describe('The marks.'),
      bare: z.array(z.boolean()).max(3),
    })
    const tools = { pay: { ...Object.values(environment.tools)[0], input } } as never
    const inputSchema = z.toJSONSchema(input) as JsonObject
    const toolInfos = [{ name: 'pay', description: 'Pays.', inputSchema, outputSchema: null }]
    const world = { environment: { ...environment, tools, toolInfos } }
    const report = await checkWorld(world, { only: ['hygiene'] })
    const names = report.checks.flatMap(({ warnings }) => warnings.map(({ name }) => name))
    expect(names.filter((name) => name.startsWith('argument'))).toEqual(['argument-undescribed:pay.bare'])
  })

  it('calls a `prepare` that is repeatable, so that every check runs', async () => {
    const report = await checkWorld(
      weighed(({ state }) => ({ heavier: state.private.heavy === 0 })),
      { pairs: 40 },
    )
    expect(report.checks.map(({ name, outcome }) => [name, outcome])).toEqual(
      // What it hides is one of a few digits, which nothing can recognize.
      CHECKS.map((name) => [name, expect.stringMatching(name === 'canaries' ? /skipped/ : /passed|warned/)]),
    )
    expect(report.ok).toBe(true)
  })

  it('finds what a `prepare` says of the private state, and one that is not as repeatable as it says', async () => {
    const secret = weighed(({ state }) => ({ heavier: false, also: state.private.heavy }))
    const leaks = await checkWorld(secret, { only: ['non-interference'], pairs: 40 })
    expect(leaks.checks[0]).toMatchObject({ outcome: 'failed' })
    let calls = 0
    const drifting = weighed(() => ({ heavier: false, also: ++calls }))
    const chance = await checkWorld(drifting, { only: ['determinism'] })
    expect(chance.checks[0]).toMatchObject({ outcome: 'failed' })
  })
})

describe('a waiver', () => {
  const hinting = (waived: Readonly<Record<string, string>>) => {
    const { environment, ...world } = leverWorld({ board: ({ left }) => (left ? 'red' : 'blue') })
    return { ...world, environment: { ...environment, waived } }
  }
  const reason = 'The color of the board is a hint that players may use.'
  const only: CheckName[] = ['non-interference']

  it.each(['start-reveals:left', 'start-reveals'])('named %s waives a finding and reports the reason', async (name) => {
    const { checks, ok, outcome } = await checkWorld(hinting({ [name]: reason }), { only, pairs: 20 })
    expect(checks[0]).toMatchObject({
      outcome: 'passed',
      findings: [],
      waived: [{ name: 'start-reveals:left', what: expect.stringContaining('public.board'), reason }],
    })
    expect([ok, outcome]).toEqual([true, 'passed'])
  })

  it('waives no other finding', async () => {
    const { checks, ok } = await checkWorld(hinting({ 'start-reveals:serial': reason }), { only, pairs: 20 })
    expect(checks[0]?.findings).toMatchObject([{ name: 'start-reveals:left' }])
    expect(ok).toBe(false)
  })

  it.each([
    [
      'with an unknown name',
      { 'start-reveal': reason },
      /waives "start-reveal", but no finding has that name.*start-reveals/,
    ],
    ['without a reason', { 'start-reveals': ' ' }, /waives "start-reveals" without a reason/],
  ])('%s is an error', async (_, waived, message) => {
    await expect(checkWorld(hinting(waived), { only })).rejects.toMatchObject({
      code: 'world-invalid',
      message: expect.stringMatching(message),
    })
  })
})

describe('non-interference', () => {
  it('warns if no two seeds differ in the private state', async () => {
    const { outcome, warnings } = await checkOne('non-interference', { fixed: true })
    expect([outcome, warnings]).toEqual([
      'warned',
      [expect.objectContaining({ what: expect.stringContaining('no two seeds differ') })],
    ])
  })

  it('warns if nearly all pairs diverge at their first call, and the world is not checked enough', async () => {
    const { environment, solver } = leverWorld({ onPull: ({ state, reveal }) => void reveal(state.private.serial) })
    const toolInfos = environment.toolInfos.filter(({ name }) => name === 'pull')
    const telling = { environment: { ...environment, toolInfos }, ...(solver && { solver }) }
    const { checks, outcome, ok } = await checkWorld(telling, { only: ['non-interference'], pairs: 60 })
    expect(checks[0]?.warnings).toMatchObject([
      { name: 'pairs-diverge', what: expect.stringMatching(/^Of \d+ calls in 60 pairs only \d were accepted and/) },
    ])
    expect([outcome, ok]).toEqual(['incomplete', true])
    const { warnings } = await checkOne('non-interference')
    expect(warnings).toEqual([])
  })
})

describe('the rules of the only seat', () => {
  it('finds a listed action that is refused, and one that is accepted and not listed', async () => {
    const { environment } = leverWorld()
    const listing = (legal: LegalActions) =>
      checkWorld({ environment: { ...environment, hasLegal: true, legal: () => legal } }, { only: ['seats'] })
    const names = async (legal: LegalActions) =>
      (await listing(legal)).checks.flatMap(({ findings }) => findings.map(({ name }) => name))
    expect((await names({ pull: { enum: [{ left: true }] } })).toSorted()).toEqual([
      'legal-missing:pull',
      'legal-missing:wait',
    ])
    expect(await names({ pull: { enum: [{ left: 'both' }] }, wait: { enum: [{}] } })).toContain('legal-refused:pull')
  })

  it('finds a fork that goes on differently than its session', async () => {
    let pulls = 0
    const { names } = await checkOne('seats', {
      onPull: ({ state }) => {
        state.public.board = `${pulls++}`
      },
    })
    expect(names).toEqual(['fork-differs'])
  })
})

describe('canaries', () => {
  it('is skipped where nothing can be recognized', async () => {
    const { environment, solver } = leverWorld()
    const open = {
      ...environment,
      secrets: null,
      state: { ...environment.state, private: z.object({}) },
      start: () => ({ public: { lit: false, pulls: 0, board: '' }, private: {} }),
    }
    const { checks } = await checkWorld({ environment: open, solver }, { only: ['canaries'] })
    expect(checks).toMatchObject([{ outcome: 'skipped', summary: 'no hidden value can be recognized' }])
  })

  it('finds a listed secret as JSON writes it', async () => {
    const { names } = await checkOne('determinism', {
      secrets: ({ serial }) => [`the "${serial}" of it`],
      onPull: ({ state, reveal }) => {
        state.public.board = `the "${reveal(state.private.serial)}" of it`
      },
    })
    expect(names).toEqual(['answer-withheld'])
  })
})

describe('determinism', () => {
  it('finds rules that fail in the same way each time, and nothing else in them', async () => {
    const { names } = await checkOne('determinism', { onPull: ({ state }) => z.literal(0).parse(state.public.pulls) })
    expect(names).toEqual(['rules-failed'])
  })

  it('finds a variable that outlives an episode', async () => {
    let pulls = 0
    const { findings } = await checkOne('determinism', {
      onPull: ({ state }) => {
        state.public.board = `${++pulls}`
      },
    })
    expect(findings[0]).toMatchObject({
      what: expect.stringMatching(/^Step \d+ differs when the same episode is replayed/),
    })
  })

  it('finds a variable that concurrent episodes share', async () => {
    let pulls = 0
    const { findings } = await checkOne('determinism', {
      onStart: () => {
        pulls = 0
      },
      onPull: ({ state }) => {
        state.public.board = `${++pulls}`
      },
    })
    expect(findings[0]).toMatchObject({
      name: 'session-shared',
      what: expect.stringMatching(/^Another session changes what an episode answers, from step \d+ on/),
      again: expect.stringMatching(/played again beside seed \w+$/),
    })
  })
})

describe('rewards', () => {
  it('plays a solver as a run does: with the legal actions, if the environment lists them', async () => {
    const { environment } = leverWorld()
    const listing = { ...environment, hasLegal: true, legal: () => ({ pull: { enum: [{ left: true }] } }) }
    const asked: unknown[] = []
    const solver = definePolicy({
      name: 'asking',
      start:
        ({ seat }) =>
        async (_, { legal }) => {
          asked.push([seat, await legal?.()])
          return { tool: 'pull', arguments: { left: true } }
        },
    })
    await checkWorld({ environment: listing, solver }, { only: ['rewards'] })
    expect(asked).toContainEqual([undefined, { pull: { enum: [{ left: true }] } }])
  })

  it('finds a reward for a refused call', async () => {
    const { found } = await checkOne('rewards', { reward: ({ won, refused }) => (refused ? 0.1 : won ? 1 : 0) })
    expect(found).toMatch(/A refused call .* earns 0\.1/)
  })

  it('finds a solver that earns no more than random play', async () => {
    const { found } = await checkOne('rewards', { reward: () => 0 })
    expect(found).toContain('The solver earns 0.000 more than random play')
  })

  it('finds huge and infinite rewards', async () => {
    const { found } = await checkOne('rewards', { reward: ({ won }) => (won ? 1e9 : 0) })
    expect(found).toContain('One step earns 1000000000')
    const { found: infinite } = await checkOne('rewards', { reward: ({ won }) => (won ? 1 / 0 : 0) })
    expect(infinite).toContain('has to return a finite number')
  })
})

describe('exploits', () => {
  it('finds a tool that sets the answer', async () => {
    const reward: LeverFlaw['reward'] = ({ won, tool }) => (won ? 1 : tool === 'pull' ? -0.5 : 0)
    const { found } = await checkOne('exploits', { settable: true, reward })
    expect(found).toContain(
      'A player who calls rewire and then pull with the same arguments earns more than the solver',
    )
    const { found: sound } = await checkOne('exploits', { reward })
    expect(sound).toBe('')
  })

  it('finds a reward that can be collected again and again, with the calls that collect it, and none once it is paid once', async () => {
    const check = async (file: string) =>
      (await checkWorld(await loadWorld(`${ROOT}examples/courier/src/${file}`), { only: ['exploits'] })).checks[0]
    const found = await check('exploitable.ts')
    expect(found?.findings).toMatchObject([
      { name: 'hack-pays:collected-again', what: expect.stringMatching(/The script: walk \{"to":"house"\}, walk/) },
      {
        name: 'hack-pays:without-success',
        what: expect.stringMatching(/^It earns \S+ in \d+ steps; the solver earns 1\.14 in 6/),
      },
    ])
    expect(await check('index.ts')).toMatchObject({ outcome: 'passed', findings: [] })
  })

  it('is skipped without a solver', async () => {
    const { environment } = leverWorld()
    const { checks, ok } = await checkWorld({ environment }, { only: ['exploits'] })
    expect([checks[0]?.outcome, ok]).toEqual(['skipped', true])
  })
})
