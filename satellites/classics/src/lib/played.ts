import type { Reference } from './reference.ts'

/** Returns the reference of the mean return of played episodes, with the parameters of its variant if it has one. */
export function played(
  policy: 'solver' | 'random',
  {
    variant,
    params = {},
    ...rest
  }: Pick<Reference, 'value' | 'tolerance' | 'source'> & {
    readonly variant?: string
    readonly params?: Reference['params']
  },
): Reference {
  return {
    id: `${variant === undefined ? '' : `${variant}/`}${policy}-played`,
    params,
    quantity: `mean return of ${policy === 'solver' ? 'the solver' : 'random actions'}`,
    ...rest,
    how: { kind: 'played', policy },
  }
}
