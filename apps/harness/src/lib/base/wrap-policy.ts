import type { Player, Policy } from '@episodic/env'

/** Returns a policy of the same name, each of whose players `open` returns, from one that it begins with `begin`. */
export function wrapPolicy(policy: Policy, open: (begin: () => Player | Promise<Player>) => Promise<Player>): Policy {
  const { name, resume } = policy
  return {
    name,
    start: (context) => open(() => policy.start(context)),
    ...(resume && { resume: (context, earlier) => open(() => resume.call(policy, context, earlier)) }),
  }
}
