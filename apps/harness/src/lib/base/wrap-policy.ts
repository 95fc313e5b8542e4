import type { Player, Policy } from '@episodic/env'

/** Wraps a policy: `open` gets the function that begins a player of it, and returns the player to use in its place. */
export function wrapPolicy(policy: Policy, open: (begin: () => Player | Promise<Player>) => Promise<Player>): Policy {
  const { name, resume } = policy
  return {
    name,
    start: (context) => open(() => policy.start(context)),
    ...(resume && { resume: (context, earlier) => open(() => resume.call(policy, context, earlier)) }),
  }
}
