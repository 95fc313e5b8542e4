import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { main } from '@episodic/harness'
import { chainOf, createRng, type EpisodeRecord } from '@episodic/protocol'
import { playRun } from '@episodic/report/testing'

const WORLD = fileURLToPath(new URL('../../examples/number-guessing', import.meta.url))
/** Episodes of one part of a simulated run, so that only these are in memory. */
const PART = 1_000
const WORDS =
  'half of what is left lies between the last two answers so the next guess divides the range again and then'.split(' ')

/**
 * Writes a run of simulated episodes into a folder: 4 attempts of each task, lines of about 3.3 KB. Its `run.json` is
 * that of a real run, with this number of episodes. The last line has an episode of 1,000 steps.
 */
export async function writeLargeRun(folder: string, episodes: number): Promise<void> {
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'run.json'), `${JSON.stringify(await manifestOf(folder, episodes))}\n`)
  const file = createWriteStream(join(folder, 'episodes.jsonl'))
  for (let part = 0; part * PART < episodes; part++) {
    const count = Math.min(PART, episodes - part * PART)
    const records = playRun({ seed: `part-${part}`, tasks: Math.ceil(count / 4), attempts: 4 }).slice(0, count)
    if ((part + 1) * PART >= episodes) records.push(prolonged(records.pop() as EpisodeRecord))
    const rng = createRng(`words-${part}`)
    if (!file.write(records.map((record) => `${JSON.stringify(withWords(record, rng))}\n`).join('')))
      await once(file, 'drain')
  }
  file.end()
  await once(file, 'close')
}

async function manifestOf(folder: string, episodes: number) {
  const played = `${folder}-played`
  const silent = { write: () => true, isTTY: false }
  const console = { out: silent, err: silent } as never
  await main(['run', WORLD, '--tasks', '1', '--rollouts', '4', '--out', played], console)
  const manifest = JSON.parse(await readFile(join(played, 'run.json'), 'utf8'))
  await rm(played, { recursive: true })
  return { ...manifest, name: 'large', scheduled: episodes }
}

/** Adds a sentence to each answer, so that the lines are as long as those of a world with longer answers. */
function withWords(record: EpisodeRecord, rng: ReturnType<typeof createRng>): EpisodeRecord {
  const steps = record.steps.map((step) => {
    const sentence = Array.from({ length: 8 }, () => rng.pick(WORDS)).join(' ')
    return { ...step, observation: { ...step.observation, text: `${step.observation.text} ${sentence}.` } }
  })
  return { ...record, steps, chain: chainOf({ ...record, steps }) }
}

/** Repeats the steps of an episode until it has 1,000. */
function prolonged(record: EpisodeRecord): EpisodeRecord {
  const steps = Array.from(
    { length: 1_000 },
    (_, i) => record.steps[i % record.steps.length] as (typeof record.steps)[0],
  )
  return { ...record, steps }
}
