/** Calls both tools of OpenEnv's echo environment, then one without its argument, then one that there is not. */
const CALLS = [
  { tool: 'echo_message', arguments: { message: 'Hello.' } },
  { tool: 'echo_with_length', arguments: { message: 'four' } },
  { tool: 'echo_message', arguments: {} },
  { tool: 'sing', arguments: {} },
]

export const policy = {
  name: 'echo',
  start() {
    const calls = CALLS.values()
    return async () => calls.next().value
  },
}
