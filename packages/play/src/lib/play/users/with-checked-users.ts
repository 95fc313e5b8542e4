import type { RolloutOptions, RunTask } from '../episodes/rollout.ts'

/** Returns what plays rollouts, with their simulated users checked where a task says what these know. */
export function withCheckedUsers(create: (options: RolloutOptions) => RunTask, options: RolloutOptions): RunTask {
  const runTask = create(options)
  return async (planned, context) => {
    if (!planned.task.metadata.users) return runTask(planned, context)
    const { checkedUsers } = await import('./checked-users.ts')
    return create({ ...options, players: checkedUsers(options.players, planned) })(planned, context)
  }
}
