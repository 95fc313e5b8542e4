import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { compareLimits } from './falling-limits.ts'

let folder: string
let clones: string[]

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'episodic-falling-'))
  clones = []
  await mkdir(join(folder, 'scripts'))
})
afterEach(async () => {
  for (const each of [folder, ...clones]) await rm(each, { recursive: true })
})

function git(...args: string[]): string {
  const settings = ['-c', 'user.name=Test', '-c', 'user.email=test@example.org', '-c', 'commit.gpgsign=false']
  return execFileSync('git', [...settings, ...args], { cwd: folder, encoding: 'utf8' })
}

async function writeLimits(limits: object): Promise<void> {
  await writeFile(join(folder, 'scripts/limits.ts'), `export const LIMITS = ${JSON.stringify(limits)} as const\n`)
}

async function commitLimits(limits: object): Promise<void> {
  await writeLimits(limits)
  git('add', '--all')
  git('commit', '--quiet', '--message', 'Limits')
}

/** Commits limits before there is the check, and with it. */
async function begin(before: object, start: object): Promise<void> {
  git('init', '--quiet', '--initial-branch=main')
  await commitLimits(before)
  await writeFile(join(folder, 'scripts/falling-limits.ts'), '')
  await commitLimits(start)
}

describe('compareLimits', () => {
  it('allows what falls, what is new, and what was raised before the check', async () => {
    await begin({ trips: { http: { hops: 5, why: 'a' } } }, { trips: { http: { hops: 9, why: 'a' } } })
    await writeLimits({ trips: { http: { hops: 8, why: 'b' }, step: { hops: 100 } } })
    expect(await compareLimits(folder)).toEqual({ problems: [], versions: 1, isShallow: false })
  })

  it('refuses a number that is higher than the lowest of all versions, by its path', async () => {
    await begin({}, { names: { most: 9 } })
    await commitLimits({ names: { most: 7 } })
    await commitLimits({ names: { most: 8 } })
    const { problems, versions } = await compareLimits(folder)
    expect(problems).toEqual([expect.stringMatching(/^names\.most is 8 and was 7 \(\w{10}\)\. A limit only falls: /)])
    expect(versions).toBe(3)
  })

  it('refuses a higher number under a path that was away for a while', async () => {
    await begin({}, { linesOfAPackage: { most: { 'packages/a': 9 } } })
    await commitLimits({ linesOfAPackage: { most: {} } })
    await writeLimits({ linesOfAPackage: { most: { 'packages/a': 10 } } })
    expect((await compareLimits(folder)).problems).toHaveLength(1)
  })

  it('allows that the limit of a package goes with its folder', async () => {
    await begin({}, { linesOfAPackage: { most: { 'packages/a': 9, 'packages/b': 9 } } })
    await mkdir(join(folder, 'packages/b'), { recursive: true })
    await writeLimits({ linesOfAPackage: { most: {} } })
    expect((await compareLimits(folder)).problems).toEqual([
      expect.stringContaining('linesOfAPackage.most.packages/b, which was 9, is no limit any more.'),
    ])
  })

  it('asks to say of any other limit that what it limits is gone', async () => {
    await begin({}, { trips: { agent: { hops: 9 } } })
    await writeLimits({ trips: {} })
    expect((await compareLimits(folder)).problems).toHaveLength(1)
    expect((await compareLimits(folder, { 'trips.agent.hops': 'the trip' })).problems).toEqual([])
  })

  it('says that a history is shallow, and compares what is there', async () => {
    await begin({}, { names: { most: 9 } })
    await commitLimits({ names: { most: 7 } })
    const clone = await mkdtemp(join(tmpdir(), 'episodic-shallow-'))
    clones.push(clone)
    git('clone', '--quiet', '--depth', '1', pathToFileURL(folder).href, clone)
    expect(await compareLimits(clone)).toEqual({ problems: [], versions: 1, isShallow: true })
  })

  it('compares nothing without a history', async () => {
    await writeLimits({ names: { most: 7 } })
    expect(await compareLimits(folder)).toEqual({ problems: [], versions: 0, isShallow: false })
  })
})
