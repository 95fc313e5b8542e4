import { describe, expect, it } from 'vitest'
import { has, names } from './notations.ts'

describe('has', () => {
  it.each([
    ['It is on the 18th of June.', '2026-06-18', true],
    ['It is on 6/18/2026.', '2026-06-18', true],
    ['It is on 18.06.2026.', 'June 18, 2026', true],
    ['It is on June 18, 2025.', '2026-06-18', false],
    ['Some 6,200 or so.', '6200', true],
    ['Six thousand two hundred.', '6200', true],
    ['Nineteen hundred at most.', '1900', true],
    ['About 1.5k.', '1500', true],
    ['It is M, 3, Z, R, 8, V.', 'M3ZR8V', true],
    ['Morel, first name Patrice.', 'Patrice Morel', true],
    ['The right one is 14.', '4', false],
    ['My number is 555.123.2002.', '555-123-2002', true],
    ['I paid 4k.', '4000', true],
    ['It was nineteen ninety-nine.', '1999', true],
    ['It is four seven one one.', '4711', true],
    ['One hundred and fifty at most.', '150', true],
    ['A thousand and twenty-one.', '1021', true],
    ['Two one-way tickets.', '2', true],
    ['Between two and three hundred.', '300', true],
    ['Two hundred three hundred, say.', '200', true],
    ['Two hundred three hundred, say.', '300', true],
    ['Nine four one, one nine one two two.', '19122', true],
    ['I was born on 05/06/1990.', 'June 5, 1990', true],
    ['I was born on 05/06/1990.', '1990-05-06', true],
    ['I was born on 05/06/1990.', 'June 5, 1991', false],
    ['I was born on May 6th, 1990.', '05/06/1990', true],
    ['I was born on 7 May 1990.', '05/06/1990', false],
    ['My cabin is on deck 12.', '2026-12-12', false],
    ['We are 12 married guests.', '2026-03-12', false],
    ['It is ann dot lee at mail.example dot com.', 'ann.lee@mail.example.com', true],
  ])('says of %j and %j: %s', (text, value, expected) => expect(has(text, value)).toBe(expected))
})

describe('names', () => {
  it.each([
    ['What is the number of the loan?', 'loan number', true],
    ['How did you pay?', 'payment', true],
    ['Please log out.', 'logged out', true],
    ['What is your name?', 'phone number', false],
  ])('says of %j and %j: %s', (text, name, expected) => expect(names(text, name)).toBe(expected))
})
