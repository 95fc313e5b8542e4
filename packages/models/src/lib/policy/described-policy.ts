import type { Player, Policy } from '@episodic/env'
import type { ToolInfo } from '@episodic/protocol'

export function describedPolicy(policy: Policy, describe: { readonly [tool: string]: string }): Policy {
  const lists = new WeakMap<readonly ToolInfo[], readonly ToolInfo[]>()
  // A list that did not change stays the same object, which players remember it by.
  const described = (tools: readonly ToolInfo[]) => {
    const known =
      lists.get(tools) ?? tools.map((tool) => ({ ...tool, description: describe[tool.name] ?? tool.description }))
    lists.set(tools, known)
    return known
  }
  const reading =
    (player: Player): Player =>
    (observation, view) =>
      player(observation, view.tools ? { ...view, tools: described(view.tools) } : view)
  const { resume } = policy
  return {
    name: policy.name,
    start: async (context) => reading(await policy.start({ ...context, tools: described(context.tools) })),
    ...(resume && {
      resume: async (context, earlier) =>
        reading(await resume.call(policy, { ...context, tools: described(context.tools) }, earlier)),
    }),
  }
}
