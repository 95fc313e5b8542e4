import type { Rows } from '@episodic/dataset'
import type { Connection } from '@episodic/env'
import type { Task } from '@episodic/protocol'
import { openingOf } from './episode/chat.ts'
import { jsonLine } from './export-format.ts'

/**
 * Yields the rows of a dataset that NeMo Gym's agents play, as lines: what a model is asked, which ends with the first
 * observation, the tools of the world, and in `episodic` what its server opens. Each task is opened for its
 * observation, and closed.
 */
export async function* nemoGymRows(tasks: Rows<Task>, connection: Connection): AsyncGenerator<string> {
  for await (const task of tasks) {
    const { params, seed } = task
    const { name, version } = task.environment
    await using played = connection.environment(name)
    const { observation } = await played.reset(task)
    const { tools: all } = played.info
    const called = all.filter(({ speech }) => speech === undefined)
    // Where words are a move, the prompt is the system's, as `llm:` has it.
    const speaks = called.length < all.length && task.prompt !== '' && observation.text !== ''
    const input = speaks
      ? [message('system', task.prompt), message('user', observation.text)]
      : [message('user', openingOf(task, observation))]
    const tools = called.map((tool) => {
      const { name, description, inputSchema: parameters } = tool
      return { type: 'function', name, description, parameters, strict: false }
    })
    const episodic = { environment: name, version, params, seed, limits: { ...task.limits } }
    yield jsonLine({ responses_create_params: { input, tools }, episodic, task: task.id })
  }
}

function message(role: 'system' | 'user', content: string): object {
  return { role, content, type: 'message' }
}
