interface Context {
  readonly tools: readonly { readonly name: string }[]
}

/** Counts to the goal, after one action that does not fit. Reads what every server of the game shows: `2 of 7`. */
export const policy = {
  name: 'counting',
  start({ tools: [tool] }: Context) {
    let left: number | null = null
    return async ({ text }: { readonly text: string }) => {
      const tried = left !== null
      const [, at, goal] = /(\d+) of (\d+)/.exec(text)?.map(Number) ?? []
      if (at !== undefined && goal !== undefined) left = goal - at
      return { tool: tool?.name ?? '', arguments: { by: tried ? Math.min(3, left ?? 0) : 'far' } }
    }
  },
}
