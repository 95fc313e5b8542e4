import { parentPort } from 'node:worker_threads'
import { HarnessError } from '../../base/harness-error.ts'
import { indexLines } from '../../run-folder/index-lines.ts'
import { compareFolders } from '../folder/compare-folders.ts'
import { createFolderGrades } from '../folder/folder-grades.ts'
import { createFolderSummaries } from '../folder/folder-summaries.ts'
import type { JobMessage, JobName, Jobs, ThreadMessage } from './jobs.ts'

// The code of a thread that reads sealed lines: it does one job after the other.

const summaries = createFolderSummaries()
const grades = createFolderGrades()
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
  summarize: (given) => summaries.summarize(given),
  summarizeGrades: (given) => grades.summarize(given),
  compare: (given) => compareFolders(given),
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
