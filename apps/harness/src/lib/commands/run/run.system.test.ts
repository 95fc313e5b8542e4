import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { summarySchema } from '@episodic/report/fold/summary'
import { runManifestSchema } from '@episodic/run/folder/record/run-folder'
import { afterAll, describe, expect, it } from 'vitest'
import { exampleWorld, nameOf, openWorkshop, readEpisodes } from '../../fixtures/episodic.fixture.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())
const world = exampleWorld('number-guessing')
const ESCAPE = String.fromCharCode(27)
const at = (...path: string[]) => join(workshop.folder, ...path)
const read = (...path: string[]) => readFileSync(at(...path), 'utf8')
const CONFIGURATION = [
  '--tasks',
  '12',
  '--rollouts',
  '2',
  '--policy',
  'random',
  '--shaping',
  '--file',
  '{"discount":0.9}',
]

describe('episodic run', () => {
  it('writes a manifest, sealed lines, a summary, a page and a lock, and no other file', async () => {
    const { out, err, status } = await workshop.main(['run', world, ...CONFIGURATION, '--out', 'files', '--json'])
    expect(status).toBe(0)
    expect(readdirSync(at('files')).sort()).toEqual([
      'episodes.jsonl',
      'report.html',
      'run.json',
      'run.lock',
      'summary.json',
    ])
    const manifest = runManifestSchema.parse(JSON.parse(read('files', 'run.json')))
    expect(manifest).toMatchObject({
      name: 'files',
      scheduled: 24,
      configuration: { policy: { name: 'random', sha256: null }, rollouts: 2, shaping: true, discount: 0.9, seed: '0' },
      played: { transport: 'in-process', concurrency: 64 },
    })
    const episodes = readEpisodes(at('files'))
    expect(new Set(episodes.map(nameOf)).size).toBe(24)
    const summary = summarySchema.parse(JSON.parse(read('files', 'summary.json')))
    expect(JSON.parse(out)).toEqual(summary)
    expect(summary.counts).toMatchObject({ scheduled: 24, finished: 24, failed: 0, unresolved: 0, conflicts: 0 })
    expect(summary.returns.unshaped?.mean.mean).not.toBe(summary.returns.total?.mean.mean)
    expect(err).toMatch(/^100 % {2}24\/24 {2}return \S+ ± \S+ {2}\S+ episodes\/s\n$/)
    expect(out + err).not.toContain(ESCAPE)
  })

  it('goes to a folder of its own if it is given again, unless episodes are missing', async () => {
    const played = ['run', world, '--tasks', '2', '--policy', 'random', '--seed', 'again']
    const folder = (number: string) => join('runs', `${basename(world)}-random-again${number}`)
    expect((await workshop.main(played)).status).toBe(0)
    const before = read(folder(''), 'episodes.jsonl')
    const again = await workshop.main(played)
    expect([again.status, again.err]).toEqual([0, expect.stringContaining(`This one goes to ${folder('-2')}.`)])
    expect(read(folder('-2'), 'episodes.jsonl')).not.toBe('')
    expect(read(folder(''), 'episodes.jsonl')).toBe(before)
    // As a run that was stopped: without its summary.
    rmSync(at(folder('-2'), 'summary.json'))
    const third = await workshop.main(played)
    expect([third.status, third.err]).toEqual([1, expect.stringContaining('holds this run already. Give --resume')])
  })

  it('rejects a folder with another configuration, naming the keys, and one that holds this run already', async () => {
    const played = ['run', world, '--tasks', '4', '--out', 'kept']
    expect((await workshop.main(played)).status).toBe(0)
    const before = read('kept', 'episodes.jsonl')
    const again = await workshop.main(played)
    expect([again.status, again.err]).toEqual([
      1,
      expect.stringMatching(/^error: kept holds this run already\. Give --resume/),
    ])
    const other = await workshop.main([...played, '--seed', '7', '--max-steps', '3', '--resume'])
    expect(other.status).toBe(1)
    expect(other.err).toMatch(/another configuration:\n {2}maxSteps: was null, now 3\n {2}seed: was "0", now "7"\n/)
    const same = await workshop.main([...played, '--resume', '--concurrency', '3', '--transport', 'stdio'])
    expect([same.status, same.out]).toEqual([0, expect.stringContaining('4 scheduled   4 finished')])
    expect(read('kept', 'episodes.jsonl')).toBe(before)
  })

  it('identifies a script by its content, so that a run can be resumed with it from anywhere', async () => {
    const guess = (value: number) => ({ tool: 'guess', arguments: { value } })
    writeFileSync(at('script.json'), JSON.stringify([guess(0)]))
    const played = ['run', world, '--tasks', '3', '--policy', 'script:script.json', '--out', 'scripted']
    const short = await workshop.main(played)
    expect(short.status).toBe(1)
    expect(short.out).toContain('3 failed')
    expect(short.err).toMatch(/error: No episode finished\. policy-failed: .*The script is over after 1 action/)
    writeFileSync(at('script.json'), JSON.stringify([guess(1), guess(2)]))
    const changed = await workshop.main([...played, '--resume'])
    expect([changed.status, changed.err]).toEqual([
      1,
      expect.stringMatching(/policy\.sha256: was "\w{64}", now "\w{64}"/),
    ])
  })

  it('counts the faults of a policy apart, never as a return', async () => {
    writeFileSync(at('rubbish.ts'), 'let n = 0\nexport const policy = { name: "rubbish", start: () => () => n++ }\n')
    const { status, out, err } = await workshop.main([
      'run',
      world,
      '--tasks',
      '3',
      '--policy',
      './rubbish.ts',
      '--out',
      'rubbish',
    ])
    expect(status).toBe(1)
    expect(out).toMatch(/policy-failed +3 +The policy "rubbish" returned \d, which is not an action/)
    expect(out).toMatch(/success +–\n/)
    expect(err).toContain('error: No episode finished.')
    expect(readEpisodes(at('rubbish')).every(({ returns }) => returns === null)).toBe(true)
  })

  it('plays a dataset and a split, and rejects a damaged dataset', async () => {
    await workshop.main(['dataset', 'generate', world, '--count', '20', '--out', 'tasks.jsonl'])
    const lines = read('tasks.jsonl').trimEnd().split('\n')
    const validation = lines.filter((line) => JSON.parse(line).split === 'validation').length
    const played = await workshop.main([
      'run',
      world,
      '--dataset',
      'tasks.jsonl',
      '--split',
      'validation',
      '--out',
      'split',
    ])
    expect(played.status).toBe(0)
    expect(played.out).toContain(`${validation} scheduled`)
    const damaged: Record<string, [string, RegExp]> = {
      torn: [read('tasks.jsonl').slice(0, -30), /torn\.jsonl, line 20 is incomplete/],
      typed: [
        lines.join('\n').replace('"difficulty":', '"difficulty":"x","was":'),
        /typed\.jsonl, line 1 .*difficulty/,
      ],
      version: [
        lines.join('\n').replaceAll('"version":"1.1.0"', '"version":"0.9.0"'),
        /line 1|for number-guessing 0\.9\.0/,
      ],
      empty: ['', /There is no task to play/],
    }
    for (const [name, [text, message]] of Object.entries(damaged)) {
      writeFileSync(at(`${name}.jsonl`), text)
      const { status, err } = await workshop.main(['run', world, '--dataset', `${name}.jsonl`, '--out', name])
      expect([status, err]).toEqual([1, expect.stringMatching(message)])
      expect(err).toMatch(/^error: /)
      expect(readdirSync(workshop.folder)).not.toContain(name)
    }
  })
})
