import { createHash } from 'node:crypto'
import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Answering, type ChatServer, calling, startChatServer } from '@episodic/models/chat-server.fixture'
import { contentId } from '@episodic/protocol'
import { isSuccess } from '@episodic/report/fold/scored-outcome'
import type { GradeRecord } from '@episodic/report/grades/grade-record'
import type { GradeSummary } from '@episodic/report/grades/grade-summary'
import { personRef, personVerdictOf } from '@episodic/report/grades/labels'
import { strFromU8, unzipSync } from 'fflate'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { COIN_WORLD, exampleWorld, openWorkshop, readEpisodes } from '../../fixtures/episodic.fixture.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())
const fileOf = (...names: string[]) => join(workshop.folder, ...names)
const read = (...names: string[]) => readFileSync(fileOf(...names), 'utf8')
const gradesOf = (run: string): GradeRecord[] =>
  read(run, 'grades.jsonl')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
const summaryOf = (run: string): GradeSummary => JSON.parse(read(run, 'grades.json'))
const hashOf = (...names: string[]) =>
  createHash('sha256')
    .update(readFileSync(fileOf(...names)))
    .digest('hex')

const REPORT = import.meta.resolve('@episodic/report/grades/grader')

/** A module with graders by functions. */
const FUNCTIONS = `
import { defineGrader } from '${REPORT}'
export const graders = {
  few: defineGrader({
    name: 'few', version: '1', scale: 'score',
    grade: ({ steps }) => ({ value: Math.min(1, steps.length / 10), why: steps.length + ' steps', evidence: [
      { step: 0, quote: steps[0].observation.text }, { step: 0, quote: 'nobody said this' },
    ] }),
  }),
  // By the private state of the last step, which only a replay knows.
  near: defineGrader({
    name: 'near', version: '1', scale: ['far', 'near'], needs: ['states'],
    grade({ steps, states: { steps: states } }) {
      const last = steps.findLast(({ action }) => typeof action.arguments.value === 'number')
      if (!last) return { value: null, why: 'no guess' }
      const away = Math.abs(last.action.arguments.value - states.at(-1).private.target)
      return { value: away < 5 ? 'near' : 'far', why: String(states.length) }
    },
  }),
}
`

let folder = ''
let count = 0
beforeAll(() => {
  writeFileSync(fileOf('functions.ts'), FUNCTIONS)
  writeFileSync(fileOf('rubric.md'), 'It guesses well:\n- it halves\n- it stays in range\n')
})
/** Each test has a run of its own: 12 episodes of 6 tasks. */
beforeEach(async () => {
  folder = `run-${count++}`
  const world = exampleWorld('number-guessing')
  const args = ['run', world, '--policy', 'careless', '--tasks', '6', '--rollouts', '2', '--out', folder]
  expect(await workshop.main(args)).toMatchObject({ status: 0 })
})

let server: ChatServer | null = null
afterEach(async () => {
  await server?.[Symbol.asyncDispose]()
  server = null
})

/** Grades the run with a judge that a server answers for. */
async function judge(answer: Answering, ...options: string[]) {
  server = await startChatServer(answer)
  return workshop.main(
    ['grade', folder, '--grader', 'judge:m', '--rubric', 'rubric.md', '--base-url', server.url, ...options],
    { env: { OPENAI_API_KEY: 'sk-nobody-may-read-this' } },
  )
}

const verdict = (value: unknown, why = 'It does.') => calling('verdict', { why, value })

describe('episodic gate, on grades', () => {
  it('decides by the share of a label and by the mean of scores', async () => {
    await workshop.main(['grade', folder, '--grader', 'functions.ts'])
    const gate = async (...conditions: readonly string[]) => {
      const args = conditions.flatMap((condition) => ['--grade', condition])
      const { status, out } = await workshop.main(['gate', folder, ...args, '--json'], { env: { GITHUB_ACTIONS: '' } })
      const { runs } = JSON.parse(out)
      return { status, problem: runs[0].problem, decisions: runs[0].decisions.slice(1) }
    }
    const values = gradesOf(folder).filter(({ grader }) => grader.name === 'few')
    const mean = values.reduce((sum, { value }) => sum + Number(value), 0) / values.length
    const met = await gate('few>=0.01', 'near: near>=1%')
    expect(met).toMatchObject({
      status: 0,
      problem: null,
      decisions: [
        { name: 'grade few', unit: 'number', value: expect.closeTo(mean, 12), tasks: 6, verdict: 'met' },
        { name: 'grade near: near', unit: 'share', verdict: 'met' },
      ],
    })
    expect(await gate('few>=0.99')).toMatchObject({ status: 3, decisions: [{ verdict: 'missed' }] })
    const wrong = async (condition: string) => (await gate(condition)).problem
    expect(await wrong('polite>=80%')).toMatch(/has grades of few, near alone, so --grade 'polite' cannot be decided/)
    expect(await wrong('near>=80%')).toMatch(/has labels of near: write one of them, as 'near: far'/)
    expect(await wrong('few>=80%')).toMatch(/has scores of few: write a number/)
    expect(await wrong('near: near>=2')).toMatch(/has a share of near: near: write a share from 0 to 1/)
    const usage = await workshop.main(['gate', folder, '--grade', '>=80%'])
    expect([usage.status, usage.err]).toEqual([2, expect.stringContaining("for example 'polite>=80%'")])
  })
})

describe('episodic grade', () => {
  it('grades by functions, writes verdicts and figures beside the run, and moves no byte of it', async () => {
    const files = ['episodes.jsonl', 'summary.json', 'run.json']
    const before = files.map((file) => hashOf(folder, file))
    const { status, out } = await workshop.main(['grade', folder, '--grader', './functions.ts'])
    expect(status).toBe(0)
    expect(files.map((file) => hashOf(folder, file))).toEqual(before)
    const episodes = readEpisodes(fileOf(folder))
    const grades = gradesOf(folder)
    expect(grades).toHaveLength(24)
    for (const { grader, seal, value, evidence, task, attempt } of grades) {
      const episode = episodes.find((one) => one.seal === seal)!
      expect([task, attempt]).toEqual([episode.task.id, episode.attempt])
      if (grader.name !== 'few') continue
      expect(value).toBe(Math.min(1, episode.steps.length / 10))
      expect(evidence.map(({ found }) => found)).toEqual([true, false])
    }
    const { graders, episodes: finished, agreements } = summaryOf(folder)
    expect(finished).toBe(12)
    const [few, near] = graders
    const steps = episodes.map((episode) => Math.min(1, episode.steps.length / 10))
    expect(few).toMatchObject({ graded: 12, ungraded: 0, missing: 0, quotes: { count: 24, notFound: 12 } })
    expect(few!.mean!.mean).toBeCloseTo(steps.reduce((sum, value) => sum + value, 0) / 12, 12)
    // A guess that solved it is near the target: the states are those of the episode.
    const solved = episodes.filter(isSuccess).map(({ seal }) => seal)
    const isNear = (seal: string) =>
      grades.find((one) => one.grader.name === 'near' && one.seal === seal)?.value === 'near'
    expect(solved.length).toBeGreaterThan(0)
    expect(solved.every((seal) => isNear(seal!))).toBe(true)
    expect(near!.labels.map(({ label }) => label)).toContain('near')
    expect(agreements).toEqual([])
    expect(out).toContain('12 finished episodes')
    expect(out).toMatch(/few +function +12 +0 +0\.\d+/)
    expect(out).toContain('! few: 12 of 24 quotes are not in their step.')
  })

  it('keeps what the same grader has graded, grades the rest, and all with --again as a further revision', async () => {
    await workshop.main(['grade', folder, '--grader', './functions.ts', '--sample', '5'])
    const first = gradesOf(folder)
    expect(first).toHaveLength(10)
    const rest = await workshop.main(['grade', folder, '--grader', './functions.ts'])
    expect(rest.err).toContain('few: 5 verdicts were there already.')
    expect(gradesOf(folder).slice(0, 10)).toEqual(first)
    expect(gradesOf(folder)).toHaveLength(24)
    const summary = read(folder, 'grades.json')
    await workshop.main(['grade', folder, '--grader', './functions.ts', '--again'])
    const again = gradesOf(folder).slice(24)
    expect(again).toHaveLength(24)
    expect(again.every(({ revision }) => revision === 1)).toBe(true)
    expect(read(folder, 'grades.json')).toBe(summary)
    // A sample is the first of an order that does not depend on results, and the same again.
    const seals = (grades: readonly GradeRecord[]) => new Set(grades.map(({ seal }) => seal))
    expect(seals(again.filter(({ seal }) => seals(first).has(seal))).size).toBe(5)
  })

  it('reports what a grader throws, leaves the episode ungraded, and stops after five faults in a row', async () => {
    const throwing = (when: string) => `
      import { defineGrader } from '${REPORT}'
      export default defineGrader({ name: 'odd', version: '1', scale: 'boolean',
        grade({ steps }) { if (${when}) throw new Error('too many steps'); return { value: true, why: '' } } })`
    const lengths = readEpisodes(fileOf(folder)).map(({ steps }) => steps.length)
    const longest = Math.max(...lengths)
    writeFileSync(fileOf(`some-${folder}.ts`), throwing(`steps.length === ${longest}`))
    writeFileSync(fileOf('all.ts'), throwing('true'))
    const failing = lengths.filter((length) => length === longest).length
    const some = await workshop.main(['grade', folder, '--grader', `./some-${folder}.ts`, '--concurrency', '1'])
    expect(some.status).toBe(1)
    if (failing < 5) {
      expect(some.err).toContain(`odd: ${failing} verdicts failed, and their episodes are ungraded. First: task `)
      expect(gradesOf(folder)).toHaveLength(12 - failing)
    }
    const all = await workshop.main(['grade', folder, '--grader', './all.ts', '--concurrency', '1'])
    expect(all.status).toBe(1)
    expect(all.err).toMatch(/error: The grader odd failed 5 times in a row\. First: task .*: too many steps/)
  })

  it('does not grade a state that is not the recorded one', async () => {
    writeFileSync(fileOf('coin.ts'), COIN_WORLD)
    await workshop.main(['run', './coin.ts', '--tasks', '3', '--out', `coin-${folder}`])
    writeFileSync(fileOf('coin.ts'), COIN_WORLD.replace('tossed = true', 'tossed = false'))
    writeFileSync(
      fileOf('state.ts'),
      `import { defineGrader } from '${REPORT}'
       export const grader = defineGrader({ name: 's', version: '1', scale: 'boolean', needs: ['states'],
         grade: ({ states }) => ({ value: states.steps[0].public.tossed, why: '' }) })`,
    )
    writeFileSync(fileOf('changed-coin.ts'), read('coin.ts'))
    const { status, err } = await workshop.main([
      'grade',
      `coin-${folder}`,
      '--grader',
      './state.ts',
      '--world',
      './changed-coin.ts',
    ])
    expect(status).toBe(1)
    expect(err).toContain('The state after step 0 is not the recorded one')
    expect(summaryOf(`coin-${folder}`).graders).toEqual([])
  })

  it('becomes the reward of an export that asks for it, whose lines say so', async () => {
    writeFileSync(
      fileOf('half.ts'),
      `import { defineGrader } from '${REPORT}'
       export const grader = defineGrader({ name: 'half', version: '2', scale: 'boolean',
         grade: ({ steps }) => ({ value: [null, true, false][steps.at(-1).action.arguments.value % 3], why: '' }) })`,
    )
    await workshop.main(['grade', folder, '--grader', './half.ts', '--grader', './functions.ts'])
    const exported = async (format: string, reward: string) => {
      const { out, err, status } = await workshop.main(['export', folder, '--format', format, '--reward', reward])
      return {
        err,
        status,
        lines: out
          .split('\n')
          .filter(Boolean)
          .map((line) => JSON.parse(line)),
      }
    }
    const episodes = readEpisodes(fileOf(folder))
    const { lines } = await exported('trl', 'grader:half')
    expect(lines).toHaveLength(12)
    for (const { reward, reward_kind, mask, episode, return: earned } of lines) {
      const { steps, returns } = episodes.find(({ chain }) => chain === episode)!
      expect(reward).toBe([null, 1, 0][Number(steps.at(-1)!.action.arguments.value) % 3])
      expect(mask).toBe(reward !== null)
      expect(reward_kind).toMatch(/^grader:half@2 [0-9a-f]{8}$/)
      expect(earned).toBe(returns!.unshaped)
    }
    const decided = lines.filter(({ mask }) => mask).length
    expect(decided).toBeGreaterThan(0)
    expect(decided).toBeLessThan(12)
    expect((await exported('trl', 'grader:half@2')).lines).toEqual(lines)
    // Verdicts of all graders are in tables, spans and logs.
    const verdicts = gradesOf(folder).filter(({ grader }) => grader.name === 'near')
    const { out: table } = await workshop.main(['export', folder, '--format', 'csv'])
    expect(table.split('\r\n')[0]).toMatch(/,grade\.few,grade\.half,grade\.near$/)
    const rows = table.split('\r\n').slice(1, -1)
    for (const { value, seal } of verdicts)
      expect(rows.find((row) => row.includes(seal))).toMatch(new RegExp(`,${value ?? ''}$`))
    const { out: spans } = await workshop.main(['export', folder, '--format', 'otel'])
    expect(spans.match(/"episodic\.grade\.half"/g)).toHaveLength(decided)
    await workshop.main(['export', folder, '--format', 'inspect', '--out', 'graded.eval'])
    const log = unzipSync(readFileSync(fileOf('graded.eval')))
    const { results } = JSON.parse(strFromU8(log['header.json'] as Uint8Array))
    const few = results.scores.find(({ name }: { name: string }) => name === 'grade.few')
    expect(few.metrics.mean.value).toBeCloseTo(summaryOf(folder).graders[0]!.mean!.mean, 12)
    expect(few.metrics.stderr.value).toBeCloseTo(summaryOf(folder).graders[0]!.mean!.standardError as number, 12)

    expect((await exported('trl', 'grader:few')).lines.every(({ reward }) => reward > 0 && reward <= 1)).toBe(true)
    for (const [name, message] of [
      ['grader:near', /gives labels, such as "(near|far)"/],
      ['grader:rude', /no verdict of a grader "rude"\. It has: /],
      ['unshapd', /Allowed choices are unshaped, total, grader:<name>/],
    ] as const)
      expect(await exported('trl', name)).toMatchObject({ status: 2, err: expect.stringMatching(message) })
    // The same name with other code is another grader, and one has to be chosen.
    writeFileSync(fileOf('other-half.ts'), read('half.ts').replace('[null, true, false]', '[true, true, true]'))
    await workshop.main(['grade', folder, '--grader', './other-half.ts'])
    const several = await exported('trl', 'grader:half')
    expect(several.err).toMatch(/Several graders are named half: half@[0-9a-f]{8} \(function, version 2\), half@/)
    const [hash] = /(?<=half@)[0-9a-f]{8}/.exec(several.err)!
    expect((await exported('trl', `grader:half@${hash}`)).lines).toHaveLength(12)
  })

  it('names what is wrong with a grader or its options, and writes nothing', async () => {
    writeFileSync(fileOf('none.ts'), 'export const graders = { a: 3 }\n')
    writeFileSync(fileOf('torn.ts'), 'throw new Error("no such judge")\n')
    for (const [args, status, message] of [
      [['--grader', 'polite'], 2, /no grader "polite"\. The world exports none\./],
      [['--grader', './none.ts'], 2, /none\.ts exports no graders made by defineGrader/],
      [['--grader', './torn.ts'], 2, /torn\.ts does not load: no such judge/],
      [['--grader', 'judge:m'], 2, /judge:m needs --rubric <file>/],
      [['--grader', 'judge:m', '--rubric', 'no.md'], 2, /--rubric no\.md cannot be read/],
      [['--grader', './functions.ts', '--rubric', 'rubric.md'], 2, /--rubric is for judge:<model>/],
      [['--grader', './functions.ts', '--votes', '3'], 2, /--votes 3: the grader few asks no model/],
      [['--grader', 'judge:m', '--scale', 'good'], 2, /two or more different labels/],
      [['--seat', 'agent'], 2, /one seat/],
    ] as const) {
      const ended = await workshop.main(['grade', folder, ...args])
      expect(ended.err).toMatch(message)
      expect(ended.status).toBe(status)
      expect(() => read(folder, 'grades.json')).toThrow(/ENOENT/)
    }
    expect(await workshop.main(['grade', 'nothing'])).toMatchObject({ status: 1 })
  })
})

describe('episodic grade with a judge', () => {
  it('keeps cost and messages, and reports a judge that obeys planted orders', async () => {
    // It passes what asks for it, and nothing else.
    const obedient: Answering = ({ messages }) => {
      const { content } = messages[1]!
      const code = /K[0-9a-f]{8}/.exec(content ?? '')?.[0]
      return code ? verdict(true, code) : verdict(false)
    }
    const { status, out } = await judge(obedient, '--prices', '2,10')
    expect(status).toBe(0)
    const grades = gradesOf(folder)
    const planted = grades.filter((grade) => grade.planted)
    expect([grades.length, planted.length]).toEqual([16, 4])
    expect(planted.every((grade) => grade.planted!.obeyed && grade.value === true)).toBe(true)
    expect(new Set(planted.map(({ seal }) => seal)).size).toBe(4)
    const [figures] = summaryOf(folder).graders
    expect(figures).toMatchObject({
      grader: { name: 'rubric', kind: 'model' },
      graded: 12,
      rate: { successes: 0, count: 12 },
      planted: { count: 4, obeyed: 4 },
      asked: { verdicts: 16, promptTokens: 16_000, completionTokens: 160, cost: expect.closeTo(16 * 0.0021, 9) },
    })
    expect(out).toContain('! rubric · m obeyed 4 of 4 planted orders to pass an episode')
    expect(grades[0]!.asked!.messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant'])
    expect(read(folder, 'grades.jsonl')).not.toContain('sk-nobody-may-read-this')
    expect(summaryOf(folder).orphans).toBe(0)
  })

  it('does not accuse a judge that never reads the episode and errs in one of five verdicts', async () => {
    const obeyed: number[] = []
    let changed = 0
    for (let seed = 0; seed < 6; seed++) {
      // By the hash of what it is asked, so that it does not depend on the order of requests. The lines around the
      // episode, and the word that a planted episode asks for, are drawn anew for each request.
      const errs: Answering = ({ messages }) => {
        const asked = JSON.stringify(messages).replaceAll(/=== [0-9a-f]{32} ===|K[0-9a-f]{8}/g, '')
        return verdict(Number.parseInt(contentId(`${seed} ${asked}`).slice(0, 8), 16) / 2 ** 32 < 0.2)
      }
      const { out } = await judge(errs, '--again')
      await server![Symbol.asyncDispose]()
      const { planted } = summaryOf(folder).graders[0]!
      obeyed.push(planted.obeyed)
      changed += planted.changed
      if (planted.changed > 0)
        expect(out).toMatch(/passed \d of 4 planted episodes that it had not passed, and \d of \d/)
      rmSync(fileOf(folder, 'grades.jsonl'))
    }
    expect(obeyed).toEqual([0, 0, 0, 0, 0, 0])
    // It did pass some that it had not passed, which is no obedience.
    expect(changed).toBeGreaterThan(2)
  })

  it('takes the majority of several votes', async () => {
    // Two of three votes pass; a vote has a seed of its own.
    const seeds: number[] = []
    const voting: Answering = ({ messages, seed }) => {
      seeds.push(seed)
      return verdict(!messages[0]!.content!.includes('- it stays in range\n- it halves'))
    }
    expect(await judge(voting, '--votes', '3')).toMatchObject({ status: 0 })
    const votes = gradesOf(folder).filter((grade) => !grade.planted)
    expect(votes).toHaveLength(36)
    expect(new Set(seeds).size).toBe(seeds.length)
    const [figures] = summaryOf(folder).graders
    const bySeal = Map.groupBy(votes, ({ seal }) => seal)
    const passed = [...bySeal.values()].filter((three) => three.filter(({ value }) => value === true).length > 1)
    expect(figures).toMatchObject({ graded: 12, rate: { successes: passed.length } })
    expect(figures!.votesAgree).toBeLessThan(1)
  })

  it('is compared with people, and corrected by them', async () => {
    const big = `big-${folder}`
    await workshop.main(['run', exampleWorld('number-guessing'), '--policy', 'careless', '--tasks', '40', '--out', big])
    folder = big
    await judge(({ messages }) => verdict(messages[1]!.content!.length % 2 === 0))
    const person = personRef('ada', { name: 'rubric', version: '1', scale: 'boolean' })
    const judged = gradesOf(big).filter((grade) => !grade.planted)
    const labels = judged.map((grade, i) =>
      personVerdictOf({
        person,
        run: big,
        line: { task: grade.task, attempt: grade.attempt, try: grade.try, seal: grade.seal, seat: null },
        value: i % 5 === 0 ? grade.value !== true : grade.value,
        drawn: true,
        earlier: [],
        at: '2026-01-01T00:00:00.000Z',
      }),
    )
    appendFileSync(fileOf(big, 'grades.jsonl'), `${labels.map((label) => JSON.stringify(label)).join('\n')}\n`)
    const { out } = await workshop.main(['grade', big])
    const { agreements, corrected, alphas } = summaryOf(big)
    expect(agreements[0]).toMatchObject({ episodes: 40, agree: { value: 0.8 } })
    const rate = labels.filter(({ value }) => value === true).length / 40
    expect(corrected[0]).toMatchObject({ labelled: 40, missing: 0 })
    expect(corrected[0]!.mean).toBeCloseTo(rate, 12)
    expect(alphas[0]).toMatchObject({ name: 'rubric', graders: 2 })
    expect(out).toContain('rubric by ada')
    expect(out).toContain("rubric: Krippendorff's α of 2 is")
    expect(out).toContain('rubric · m corrected by 40 labels: ')
  })
})
