import { readDocstrings } from '../python/docstrings.ts'
import { readLiteral } from '../python/expression.ts'
import type { PythonValue } from '../python/value.ts'

export interface Parameter {
  readonly name: string
  /** As Python's annotation says it, without `| None`. */
  readonly type: 'str' | 'int' | 'float' | 'bool' | 'list[str]' | 'list[dict]' | 'SharingPermission'
  readonly isNullable: boolean
  readonly description: string
  /** Nothing for one that has to be given. */
  readonly fallback: PythonValue | undefined
}

export interface PythonFunction {
  readonly name: string
  readonly description: string
  readonly parameters: readonly Parameter[]
}

/** Reads the functions of a module as AgentDojo makes tools of them: a parameter that is not documented is none. */
export function readPythonFunctions(source: string): Map<string, PythonFunction> {
  return new Map(
    [...readDocstrings(source).values()].map(({ name, short, long, args, parameters }) => [
      name,
      {
        name,
        description: `${short}${long && `\n${long}`}`.replaceAll('None', 'null'),
        parameters: Object.entries(args).map(([parameter, description]) => {
          const { type, default: fallback } = parameters.find((one) => one.name === parameter) ?? {}
          return {
            name: parameter,
            type: type?.replace(' | None', '') as Parameter['type'],
            isNullable: type?.endsWith(' | None') === true,
            description,
            fallback: fallback == null ? undefined : readLiteral(fallback),
          }
        }),
      },
    ]),
  )
}
