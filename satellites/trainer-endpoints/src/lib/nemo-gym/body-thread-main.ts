import { parentPort } from 'node:worker_threads'
import { WireError } from '@episodic/protocol'
import { BODY_JOBS } from './body-jobs.ts'
import type { BodyAnswer, BodyRequest } from './body-thread.ts'

parentPort?.on('message', ({ job, text }: BodyRequest) => {
  let answer: BodyAnswer
  try {
    answer = { result: BODY_JOBS[job](text) }
  } catch (error) {
    if (!WireError.is(error)) throw error
    answer = { code: error.code, message: error.message }
  }
  parentPort?.postMessage(answer)
})
