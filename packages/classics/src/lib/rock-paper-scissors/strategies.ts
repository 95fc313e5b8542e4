import type { Strategy } from '../classic.ts'

export const strategies: { readonly [name: string]: Strategy } = {
  rock: () => ({ tool: 'throw', arguments: { hand: 'rock' } }),
}
