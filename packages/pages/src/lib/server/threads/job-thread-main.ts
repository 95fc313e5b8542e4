import { parentPort } from 'node:worker_threads'
import { createGradableLines } from '@episodic/report/grades/gradable-lines'
import { summarizeGrades } from '@episodic/report/grades/grade-summary'
import { HarnessError } from '@episodic/run/base/harness-error'
import { gradesFileOf, readGrades } from '@episodic/run/folder/grades-file'
import { indexLines } from '@episodic/run/folder/index-lines'
import { createRunFold } from '@episodic/run/folder/record/report-run'
import { compareFolders } from '../folder/compare-folders.ts'
import { createKeptFolds } from '../folder/kept-folds.ts'
import type { JobMessage, JobName, Jobs, ThreadMessage } from './jobs.ts'

// The code of a thread that reads sealed lines: it does one job after the other.

const summaries = createKeptFolds(createRunFold)
const gradable = createKeptFolds(({ configuration }) => createGradableLines(configuration.focus))
const run: {
  readonly [Name in JobName]: (
    given: Jobs[Name]['given'],
    onPart: (part: Jobs[Name]['part']) => void,
  ) => Promise<Jobs[Name]['result']>
} = {
  async index(given, onPart) {
    await indexLines(given, onPart)
    return null
  },
  async summarize(given) {
    const { fold, covered } = await summaries.read(given)
    return { summary: fold.summarize(), covered }
  },
  async summarizeGrades(given) {
    const records = await readGrades(gradesFileOf(given.folder))
    const { fold, manifest } = await gradable.read(given)
    return summarizeGrades(manifest.name, records, fold.list())
  },
  compare: compareFolders,
}

const send = (message: ThreadMessage) => parentPort?.postMessage(message)
let last = Promise.resolve()

async function work({ number, name, given }: JobMessage): Promise<void> {
  try {
    const job = run[name] as (given: unknown, onPart: (part: unknown) => void) => Promise<Jobs[JobName]['result']>
    const result = await job(given, (part) => send({ number, kind: 'part', part: part as never }))
    send({ number, kind: 'result', result })
  } catch (error) {
    const { message } = error as Error
    send({ number, kind: 'error', code: HarnessError.is(error) ? error.code : null, message })
  }
}

parentPort?.on('message', (message: JobMessage) => {
  last = last.then(() => work(message))
})
