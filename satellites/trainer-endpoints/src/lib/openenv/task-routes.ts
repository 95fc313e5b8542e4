import { WireError } from '@episodic/protocol'
import { type Context, Hono } from 'hono'
import { answerProblem, readObject, type TrainerRoute, trainersOnly } from '../http/trainer-app.ts'
import { listSplits, TASK_ROUTES, type TaskIndex } from '../tasks/task-index.ts'

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
  app.get('/:name/splits', (context) => context.json(listSplits(tasks, worldOf(context))))
  for (const [path, answer] of Object.entries(TASK_ROUTES))
    app.post(`/:name/${path}`, async (context) => {
      const body = await readObject(context)
      try {
        return context.json(answer(tasks, worldOf(context), body))
      } catch (error) {
        if (!WireError.is(error, 'invalid-params')) throw error
        return answerProblem({ status: 400, code: error.code, message: error.message })
      }
    })
  return app
}

function worldOf(context: Context): string {
  return context.req.param('world') as string
}
