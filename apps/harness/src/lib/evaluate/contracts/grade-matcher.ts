import { isPass } from '@episodic/analysis/grade/planted/planted-order'
import { generateTasks } from '@episodic/dataset'
import { sealEpisode } from '@episodic/play/play/record/seal-episode'
import { defaultTasks } from '@episodic/play/worlds/default-tasks'
import type { Task } from '@episodic/protocol'
import { gradedEpisodeOf } from '@episodic/report/grades/graded-episode'
import { findVerdictProblem, type Grader } from '@episodic/report/grades/grader'
import { HarnessError, invalidOption } from '@episodic/run/base/harness-error'
import { finishedEpisode, matched } from './episode-matchers.ts'
import type { PlayedEpisode } from './play-episode.ts'

export interface GradeMatchers {
  /**
   * A grader passes it: with true, the best label, or a score above 0.5. Takes an episode of `playEpisode`. Throws
   * `option-invalid` for a grader that needs states, and `grader-failed` for a verdict that is none.
   */
  toPassGrader(grader: Grader): Promise<void>
}

export const gradeMatchers = {
  async toPassGrader(received: unknown, grader: Grader) {
    const episode = finishedEpisode(received, 'toPassGrader')
    const { environment, prompt } = episode as typeof episode & PlayedEpisode
    if (!environment) throw invalidOption('toPassGrader takes an episode of `playEpisode`, which knows its prompt.')
    if (grader.needs.includes('states'))
      throw invalidOption(`${grader.name} needs states, which \`episodic grade\` has. Expect them with toLeaveState.`)
    const [task] = generateTasks(defaultTasks({ environment }), { seed: '0', count: 1 })
    const asked = { task: { ...(task as Task), prompt }, attempt: 0 }
    const by = { run: 'test', policy: { name: 'test', seed: 'test' }, discount: 1, time: { started: 0, ended: 0 } }
    const graded = gradedEpisodeOf(sealEpisode(episode, asked, by), grader.needs)
    const context = { ...graded, vote: 0, seed: 'test', signal: new AbortController().signal }
    const verdict = await grader.grade(context as Parameters<Grader['grade']>[0])
    const wrong = findVerdictProblem(grader.scale, verdict)
    if (wrong !== null) throw new HarnessError('grader-failed', `The grader ${grader.name} is wrong: ${wrong}.`)
    const said = `It says ${JSON.stringify(verdict.value)}: ${verdict.why}`
    return matched(episode, isPass(grader.scale, verdict.value), `to pass ${grader.name}`, said)
  },
}
