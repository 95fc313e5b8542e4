import type { Player, Policy } from '@episodic/env'

export function wrapPolicy(policy: Policy, open: (begin: () => Player | Promise<Player>) => Promise<Player>): Policy {
  const { name, resume } = policy
  return {
    name,
    start: (context) => open(() => policy.start(context)),
    ...(resume && { resume: (context, earlier) => open(() => resume.call(policy, context, earlier)) }),
  }
}
