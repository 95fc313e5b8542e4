import { describe, expect, it } from 'vitest'
import { readDocstrings } from './docstrings.ts'

const SOURCE = `
class Tools:
    def open_door(
        self, door: Dict[str, Any], *, force: float = 0.5, note: str = "a, (b"  # how
    ) -> Dict[str, Any]:
        """
        Opens a door.
        Look first: it may be open.

        Only then push.

        Args:
            door: The door to open, with
                its key.
            force (float, optional): How hard: from 0 to 1.

        Returns:
            Whether it is open.
        """
        def inner():
            pass

    async def close_door(self) -> str:
        """Closes it."""

def ring(bell: str, times):
    """Rings a bell.

    :param bell: The name
        of the bell.
    :param int times: How often.
    """
    return "def no_function(a):"
`

describe('readDocstrings', () => {
  const functions = readDocstrings(SOURCE)

  it('reads what a docstring says of a function and of its parameters', () => {
    expect(functions.get('open_door')).toEqual({
      name: 'open_door',
      short: 'Opens a door.',
      long: 'Look first: it may be open.\n\nOnly then push.',
      args: { door: 'The door to open, with\nits key.', force: 'How hard: from 0 to 1.' },
      parameters: [
        { name: 'door', type: 'Dict[str, Any]', default: null },
        { name: 'force', type: 'float', default: '0.5' },
        { name: 'note', type: 'str', default: '"a, (b"' },
      ],
    })
    expect(functions.get('close_door')).toMatchObject({ short: 'Closes it.', long: '', args: {}, parameters: [] })
  })

  it('reads parameters in the style of reST', () => {
    expect(functions.get('ring')?.args).toEqual({ bell: 'The name\nof the bell.', times: 'How often.' })
  })

  it('lists functions without a docstring, and none that a text only mentions', () => {
    expect([...functions.keys()]).toEqual(['open_door', 'inner', 'close_door', 'ring'])
    expect(functions.get('inner')).toMatchObject({ short: '', long: '' })
  })
})
