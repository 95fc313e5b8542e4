import { existsSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { exampleWorld, openWorkshop, readMatches } from '../../fixtures/episodic.fixture.ts'
import { tournamentSchema } from '../../suites/tournament/tournament.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())
const NIM = fileURLToPath(new URL('../../fixtures/nim.fixture.ts', import.meta.url))
const HANDS = fileURLToPath(
  new URL('../../../../../../satellites/classics/src/rock-paper-scissors.ts', import.meta.url),
)
const at = (...path: string[]) => join(workshop.folder, ...path)

async function play(out: string, ...options: string[]) {
  const ended = await workshop.main(['tournament', NIM, '--games', '8', '--out', out, '--json', ...options])
  return { ...ended, result: ended.out === '' ? null : tournamentSchema.parse(JSON.parse(ended.out)) }
}
const duel = ['--player', 'strong=solver', '--player', 'weak=random']

describe('episodic tournament', () => {
  it('plays every seating, and rates the players', async () => {
    const { status, result } = await play('duel', ...duel)
    expect(status).toBe(0)
    expect(result).toMatchObject({
      counts: { tasks: 8, scheduled: 16, finished: 16, failed: 0, unresolved: 0 },
      anchor: 'weak',
      players: [
        { name: 'strong', wins: expect.any(Number), faults: 0 },
        { name: 'weak', rating: 1_000 },
      ],
      cycles: [],
    })
    const [strong, weak] = result?.players ?? []
    expect(strong?.rating).toBeGreaterThan(1_100)
    expect([strong?.wins, strong?.losses]).toEqual([weak?.losses, weak?.wins])
    // Seven stones are won by who moves first, if that player knows how.
    const [first] = readMatches(at('duel', 'matches', 'strong vs weak'))
    expect(first?.seats).toMatchObject({
      ann: { policy: { name: 'leaves-fours' }, success: true },
      bob: { success: false },
    })
    const earned = result?.pairs.find(({ player }) => player === 'strong')?.return.mean as number
    const own = ['strong vs weak', 'weak vs strong'].flatMap((pairing) =>
      readMatches(at('duel', 'matches', pairing)).map(
        ({ seats }) => seats[pairing.startsWith('strong') ? 'ann' : 'bob']?.returns?.unshaped as number,
      ),
    )
    expect(earned).toBeCloseTo(own.reduce((sum, value) => sum + value, 0) / own.length, 12)
    expect(tournamentSchema.parse(JSON.parse(readFileSync(at('duel', 'result.json'), 'utf8')))).toEqual(result)
    expect(readFileSync(at('duel', 'report.html'), 'utf8')).toContain('Rating of each player')
  })

  it('plays only what is missing with --resume, and gives the same result', async () => {
    const whole = await play('whole', ...duel)
    const file = at('whole', 'matches', 'weak vs strong', 'episodes.jsonl')
    const kept = readFileSync(file, 'utf8').split('\n').slice(0, 3).join('\n')
    truncateSync(file, Buffer.byteLength(`${kept}\n`))
    expect((await play('whole', ...duel)).err).toContain('Give --resume to play its missing matches')
    expect((await play('whole', '--resume', ...duel)).result).toEqual(whole.result)
    expect((await play('whole', '--resume', '--seed', '1', ...duel)).err).toContain('with other players or settings')
  })

  it('gives the same result with worker processes', async () => {
    const alone = await play('one-process', '--games', '2', ...duel)
    const shared = await play('two-processes', '--games', '2', '--processes', '2', ...duel)
    expect([shared.status, shared.result]).toEqual([0, alone.result])
  })

  it('takes the name of a policy for that of its player', async () => {
    const { status, result } = await play('named', '--player', 'solver', '--player', 'random')
    expect([status, result?.anchor]).toEqual([0, 'random'])
    expect(result?.players.map(({ name }) => name).toSorted()).toEqual(['random', 'solver'])
  })

  it('shows players who beat each other in a circle', async () => {
    const hands = ['rock', 'paper', 'scissors']
    for (const hand of hands)
      writeFileSync(at(`${hand}.json`), JSON.stringify(new Array(1_000).fill({ tool: 'throw', arguments: { hand } })))
    const players = hands.flatMap((hand) => ['--player', `${hand}=script:${at(`${hand}.json`)}`])
    const ended = await workshop.main(['tournament', HANDS, '--games', '2', '--out', 'hands', ...players])
    expect(ended.status).toBe(0)
    expect(ended.out).toContain('rock beats scissors beats paper beats rock: no rating can show that.')
    expect(ended.out).toContain('the mean of all players is 1,000')
  })

  it('lets an agent in a process of its own play', async () => {
    const agent = fileURLToPath(new URL('../../worlds/agents/nim-agent.fixture.ts', import.meta.url))
    const player = `agent=process:${process.execPath} ${agent}`
    const { status, result } = await play('agent', '--games', '2', '--player', player, '--player', 'weak=random')
    expect(status).toBe(0)
    expect(result?.counts).toMatchObject({ finished: 4, failed: 0 })
    expect(result?.players[0]).toMatchObject({ name: 'agent' })
  })

  it('counts the failed matches of a player as failed, and lets the others play', async () => {
    const { status, result } = await play('failing', ...duel, '--player', 'broken=broken')
    expect(status).toBe(0)
    expect(result?.counts.failed).toBeGreaterThan(0)
    const broken = result?.players.find(({ name }) => name === 'broken')
    expect(broken?.faults).toBe(result?.counts.failed)
    expect(result?.failures).toMatchObject([{ player: 'broken', code: 'policy-failed', count: broken?.faults }])
    expect(result?.counts.finished).toBe(48 - Number(result?.counts.failed))
  })

  it.each<[string, string[], string]>([
    ['too few players', ['--player', 'a=random'], 'nim has 2 seats (ann, bob), and there is 1 player.'],
    [
      'a name twice, of which one is a policy',
      ['--player', 'random', '--player', 'random=solver'],
      'random is given twice.',
    ],
    ['a policy that cannot be a name', ['--player', 'random', '--player', 'llm:m'], 'Write it as name=value'],
    ['a name twice', ['--player', 'a=random', '--player', 'a=solver'], 'a is given twice.'],
    ['a name that is a path', ['--player', '../a=random', '--player', 'b=random'], '"../a" cannot name a player'],
    ['an unknown policy', ['--player', 'a=random', '--player', 'b=clever'], 'There is no policy "clever"'],
  ])('rejects %s', async (_, options, message) => {
    const { status, err } = await play('rejected', ...options)
    expect([status, err]).toEqual([2, expect.stringContaining(message)])
    if (!message.includes('clever')) expect(existsSync(at('rejected'))).toBe(false)
  })

  it('rejects a world of one seat', async () => {
    const { err } = await workshop.main(['tournament', exampleWorld('number-guessing'), ...duel])
    expect(err).toContain('number-guessing has one seat, and a tournament needs several.')
  })
})
