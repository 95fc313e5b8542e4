import { type JsonObject, type Task, WireError } from '@episodic/protocol'
import { type Context, Hono } from 'hono'
import { answerProblem, readObject, type TrainerRoute, trainersOnly } from '../http/trainer-app.ts'
import { rowOf, type TaskIndex } from '../tasks/task-index.ts'

/**
 * The routes with which a trainer reads the tasks of an environment. A split or an index that does not exist is
 * rejected with 400, and an environment without tasks with 501.
 */
export function taskRoutes(tasks: TaskIndex): Hono<TrainerRoute> {
  const app = new Hono<TrainerRoute>()
  app.use('/:name/*', trainersOnly)
  app.use('/:name/*', async (context, next) => {
    const world = worldOf(context)
    if (context.req.param('name').toLowerCase() !== world)
      return answerProblem({ status: 404, code: 'not-found', message: 'There is no environment of this name here.' })
    if (tasks.splitsOf(world).length === 0)
      return answerProblem({ status: 501, code: 'not-found', message: `This server has no tasks of ${world}.` })
    return next()
  })
  app.get('/:name/splits', (context) =>
    context.json(tasks.splitsOf(worldOf(context)).map((split) => ({ name: split, type: split }))),
  )
  post('tasks', (world, { split }) => ({ tasks: rows(tasks.range(world, split)), env_name: world }))
  post('num_tasks', (world, { split }) => ({ num_tasks: tasks.count(world, split) }))
  post('task', (world, { split, index }) => ({ task: rowOf(tasks.task(world, split, index)), env_name: world }))
  post('task_range', (world, { split, start, stop }) => ({
    tasks: rows(tasks.range(world, split, start, stop)),
    env_name: world,
  }))
  return app

  function post(route: string, answer: (world: string, body: JsonObject) => object): void {
    app.post(`/:name/${route}`, async (context) => {
      const body = await readObject(context)
      try {
        return context.json(answer(worldOf(context), body))
      } catch (error) {
        if (!WireError.is(error, 'invalid-params')) throw error
        return answerProblem({ status: 400, code: error.code, message: error.message })
      }
    })
  }
}

function rows(tasks: readonly Task[]): readonly JsonObject[] {
  return tasks.map(rowOf)
}

function worldOf(context: Context): string {
  return context.req.param('world') as string
}
